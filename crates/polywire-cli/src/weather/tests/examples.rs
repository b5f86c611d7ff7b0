//! Every example of the model, over every wire.

use std::time::SystemTime;

use polywire::codec::json::{JsonDecoder, JsonProfile};
use polywire::model::{Loader, Node};
use polywire::schema::{Schema, decode_structure};

use super::*;

#[tokio::test]
async fn every_example_comes_out_as_written() {
    let model = Loader::new()
        .add_text("weather.smithy", MODEL)
        .assemble()
        .unwrap()
        .model;
    let closure = model.closure("example.weather#Weather").unwrap();
    let mut compared = 0;
    for wire in WIRES {
        for shape in closure.operations() {
            let name = shape.id().as_str().rsplit('#').next().unwrap();
            if name == "GetCurrentTime" {
                // Its example shows a moment that has passed, or is to come.
                continue;
            }
            // Examples of one operation build on each other; those of others
            // may not be in its way.
            let fixture = Fixture::new().await;
            let operation = fixture.service.find_operation(name).unwrap();
            for example in shape.traits().examples() {
                let input = members(example.input, operation.input());
                let answer = fixture.call_over(wire, name, input).await;
                let title = format!("{name} over {wire}: {}", example.title);
                match example.error {
                    Some((id, content)) => {
                        let error = operation.find_error(id).unwrap();
                        let fault = answer.expect_err(&title);
                        assert_eq!(fault.shape(), error.id(), "{title}");
                        assert_eq!(*fault.details(), members(content, error), "{title}");
                    }
                    None => {
                        let expected = members(example.output, operation.output());
                        assert_eq!(answer.expect(&title), expected.into(), "{title}");
                    }
                }
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 3 * 21);
}

/// The members of an example. Blobs are base64.
fn members(node: Option<&Node>, shape: Schema<'_>) -> Map {
    let json = node.map_or_else(|| "{}".to_owned(), Node::to_json);
    let mut decoder = JsonDecoder::from_str(&json, JsonProfile::HUMAN, &Limits::DEFAULT).unwrap();
    let mut map = Map::new();
    decode_structure(&mut map, shape.root(), &mut decoder).unwrap();
    map
}

#[tokio::test]
async fn time_is_the_same_in_every_format() {
    let fixture = Fixture::new().await;
    for wire in WIRES {
        let before = Timestamp::from(SystemTime::now()).seconds();
        let answer = fixture.call_over(wire, "GetCurrentTime", Map::new()).await;
        let after = Timestamp::from(SystemTime::now()).seconds();
        let answer = answer.unwrap();
        let time = answer["time"].as_timestamp().unwrap();
        assert!((before..=after).contains(&time.seconds()), "{wire}: {time}");
        for form in ["dateTime", "httpDate", "epochSeconds", "lastModified"] {
            assert_eq!(
                answer[form].as_timestamp(),
                Some(time),
                "{form} over {wire}"
            );
        }
    }
}
