//! `@paginated`: how an operation requests the next page.
//!
//! <https://smithy.io/2.0/spec/behavior-traits.html#paginated-trait>

use polywire_model::{Model, Shape};

use crate::plan::{Field, Plan, Structure};

/// The types and expressions of an implementation of `Pages`.
pub(crate) struct Pages {
    pub(crate) token_ty: String,
    pub(crate) token: String,
    pub(crate) set_token: String,
    /// The items of a page, if the model declares them.
    pub(crate) items: Option<Items>,
}

/// The types and expressions of an implementation of `ItemPages`.
pub(crate) struct Items {
    pub(crate) ty: String,
    pub(crate) expression: String,
}

/// Returns the pagination of an operation. `None` if it is not paginated.
pub(crate) fn pages(
    plan: &Plan<'_>,
    model: &Model,
    operation: &Shape,
    input: &Structure<'_>,
    output: &Structure<'_>,
) -> Option<Pages> {
    let paginated = model.pagination(Some(plan.closure.service()), operation)?;
    let input_token = field(input, paginated.input_token?)?;
    let (last, token) = path(plan, output, paginated.output_token?)?;
    if last.ty != input_token.ty {
        return None;
    }
    let items = paginated.items.and_then(|path| items(plan, output, path));
    let filter = if last.is_text() {
        ".filter(|token| !token.is_empty())"
    } else {
        ""
    };
    let value = match input_token.presence.is_option() {
        true => "Some(token)",
        false => "token",
    };
    Some(Pages {
        token: format!("{token}.cloned(){filter}"),
        set_token: format!("input.{} = {value};", input_token.name),
        items,
        token_ty: last.ty.clone(),
    })
}

/// The items of a page: the elements of a list or the entries of a map.
fn items(plan: &Plan<'_>, output: &Structure<'_>, path: &str) -> Option<Items> {
    let (field, expression) = owned_path(plan, output, path)?;
    if let Some(rest) = field.ty.strip_prefix("Vec<") {
        return Some(Items {
            ty: rest.strip_suffix('>')?.to_owned(),
            expression,
        });
    }
    let entry = field.ty.split_once("Map<")?.1.strip_suffix('>')?;
    Some(Items {
        ty: format!("({entry})"),
        expression: format!("{expression}.into_iter().collect()"),
    })
}

fn field<'p, 'm>(structure: &'p Structure<'m>, name: &str) -> Option<&'p Field<'m>> {
    structure
        .fields
        .iter()
        .find(|field| field.member.name() == name)
}

/// Returns the last field of a path, and an expression that borrows its value as an `Option`.
fn path<'p, 'm>(
    plan: &'p Plan<'m>,
    output: &'p Structure<'m>,
    path: &str,
) -> Option<(&'p Field<'m>, String)> {
    walk(plan, output, path, |expression, field| {
        match (expression, field.presence.is_option()) {
            (None, true) => format!("output.{}.as_ref()", field.name),
            (None, false) => format!("Some(&output.{})", field.name),
            (Some(before), true) => {
                format!("{before}.and_then(|value| value.{}.as_ref())", field.name)
            }
            (Some(before), false) => format!("{before}.map(|value| &value.{})", field.name),
        }
    })
}

/// Returns the last field of a path, and an expression that moves its value out.
fn owned_path<'p, 'm>(
    plan: &'p Plan<'m>,
    output: &'p Structure<'m>,
    path: &str,
) -> Option<(&'p Field<'m>, String)> {
    let is_one = !path.contains('.');
    let (field, expression) = walk(plan, output, path, |expression, field| {
        match (expression, field.presence.is_option()) {
            (None, true) => format!("output.{}", field.name),
            (None, false) if is_one => format!("output.{}", field.name),
            (None, false) => format!("Some(output.{})", field.name),
            (Some(before), true) => format!("{before}.and_then(|value| value.{})", field.name),
            (Some(before), false) => format!("{before}.map(|value| value.{})", field.name),
        }
    })?;
    let is_whole = is_one && !field.presence.is_option();
    Some(match is_whole {
        true => (field, expression),
        false => (field, format!("{expression}.unwrap_or_default()")),
    })
}

fn walk<'p, 'm>(
    plan: &'p Plan<'m>,
    output: &'p Structure<'m>,
    path: &str,
    step: impl Fn(Option<String>, &Field<'_>) -> String,
) -> Option<(&'p Field<'m>, String)> {
    let mut structure = Some(output);
    let mut expression = None;
    let mut last = None;
    for name in path.split('.') {
        let found = field(structure?, name)?;
        expression = Some(step(expression, found));
        let target = found.member.target().id();
        structure = plan.structures.iter().find(|other| other.id == target);
        if found.ty.starts_with("Box<") {
            return None;
        }
        last = Some(found);
    }
    Some((last?, expression?))
}

/// Returns the path of a type as seen from a submodule of the generated module.
pub(crate) fn type_in_submodule(ty: &str, plan: &Plan<'_>, root: &str) -> String {
    let type_names: Vec<&str> = plan.names.values().map(String::as_str).collect();
    let mut result = String::new();
    let mut word = String::new();
    // The characters before a word tell whether it continues a path.
    let flush = |word: &mut String, result: &mut String| {
        if word == "schema" {
            result.push_str(root);
            result.push_str("::schema");
        } else if type_names.contains(&word.as_str()) && !result.ends_with(':') {
            result.push_str("super::");
            result.push_str(word);
        } else {
            result.push_str(word);
        }
        word.clear();
    };
    for character in ty.chars() {
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
        } else {
            flush(&mut word, &mut result);
            result.push(character);
        }
    }
    flush(&mut word, &mut result);
    result
}
