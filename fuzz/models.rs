//! Models: a finding with a place, or a model that survives being written as AST,
//! in both versions, and as IDL.

use polywire_model::{Loader, Model, Node, ast, idl};
use polywire_protocol::ProtocolKind;

pub(crate) fn load(name: &str, data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    match Loader::new().add_text(name, text).assemble() {
        Ok(assembled) => {
            for warning in &assembled.warnings {
                explained(&warning.to_string(), &warning.to_node());
            }
            survives(&assembled.model);
            offered(&assembled.model);
        }
        Err(error) => {
            assert!(error.errors().count() > 0);
            for finding in error.diagnostics() {
                explained(&finding.to_string(), &finding.to_node());
                assert!(finding.position.is_some() || finding.code == "TooManyProblems");
            }
            assert!(!error.to_string().is_empty());
        }
    }
}

/// What is said about a model can be shown to people and to programs.
fn explained(text: &str, node: &Node) {
    let raw = |character: char| character.is_control() && character != '\n';
    assert!(!text.contains(raw), "{text:?}");
    assert!(!node.to_json().is_empty());
}

/// Written as AST or as IDL and loaded again, it is the same model.
fn survives(model: &Model) {
    let written = ast::write(model);
    let text = written.to_json();
    let again = loaded(&[("written.json", &text)]);
    assert_eq!(ast::write(&again).to_json(), text);
    let old = ast::write_with(model, &ast::Options::new().version_1());
    for loss in &old.losses {
        explained(&loss.to_string(), &loss.to_node());
    }
    let files = idl::write(model);
    let files: Vec<(&str, &str)> = files.iter().map(|f| (&*f.name, &*f.text)).collect();
    let again = loaded(&files);
    assert!(ast::write(&again) == written, "{files:?}\n{text}");
    for ((_, first), second) in files.iter().zip(&idl::write(&again)) {
        assert_eq!(*first, second.text);
    }
}

fn loaded(files: &[(&str, &str)]) -> Model {
    let mut loader = Loader::new();
    for (name, text) in files {
        loader.add_text(name, *text);
    }
    let assembled = loader.assemble();
    assembled
        .unwrap_or_else(|error| panic!("{error}\n{files:?}"))
        .model
}

/// Its services have schemas, and are offered or refused with a reason.
fn offered(model: &Model) {
    for service in model.services() {
        let set = model.schemas(service.id()).unwrap();
        let set = set.unwrap_or_else(|error| panic!("{error}"));
        for kind in ProtocolKind::ALL {
            if let Err(error) = kind.build(set.service(0)) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}
