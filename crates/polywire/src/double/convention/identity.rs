//! What distinguishes the things of a kind.

use polywire_schema::{Member, Operation};

use super::{IdentityPart, Role, Verb, is_scalar, role};

/// The identity of the things of a noun, by the operations on it and those on parts of it. The error
/// is the reason why they cannot be distinguished.
pub(super) fn of_noun(
    noun: &str,
    operations: &[(Verb, Operation<'_>)],
    parts: &[(Verb, Operation<'_>)],
) -> Result<Vec<IdentityPart>, String> {
    let find_in = |all: &[(Verb, Operation<'_>)], wanted: &[Verb]| {
        let of = |verb: &Verb| all.iter().position(|(own, _)| own == verb);
        wanted.iter().find_map(of)
    };
    let find = |wanted: &[Verb]| find_in(operations, wanted).map(|at| operations[at].1);
    let Some(writer) = find(&[Verb::Put, Verb::Create]) else {
        return Err(format!("no operation creates {noun}"));
    };
    let creates = find(&[Verb::Create]).is_some();
    let written: Vec<Role> = roles(noun, writer, |_| true);
    let readers = [Verb::Read, Verb::Delete, Verb::Update, Verb::Merge];
    let reader = find(&readers).or_else(|| find_in(parts, &readers).map(|at| parts[at].1));
    let Some(reader) = reader else {
        let required = roles(noun, writer, |member| member.is_required());
        return listed_only(noun, required, &written, creates);
    };
    let mut wanted = roles(noun, reader, |member| member.is_required());
    if wanted.is_empty() {
        // Alternatives, such as a name or an ARN: the first that the writer has too.
        let own = roles(noun, reader, |_| true)
            .into_iter()
            .filter(Role::is_own);
        let own: Vec<Role> = own.collect();
        let given = own.iter().find(|role| written.contains(role)).cloned();
        let own = given.or_else(|| own.into_iter().next());
        // Parents that only the writer requires.
        let read = roles(noun, reader, |_| true);
        let parents = roles(noun, writer, |member| member.is_required());
        let parents = parents.into_iter();
        wanted = parents
            .filter(|role| !role.is_own() && read.contains(role))
            .chain(own)
            .collect();
        if wanted.is_empty() && !read.is_empty() {
            return Err(format!("{} requires no identifier", reader.name()));
        }
    }
    let unreadable = reader.input().members();
    let mut unreadable = unreadable.filter(|member| member.is_required());
    if let Some(member) = unreadable.find(|member| !is_scalar(member.kind())) {
        return Err(format!(
            "{} identifies it by {}, which is no string or integer",
            reader.name(),
            member.name()
        ));
    }
    let mut identity: Vec<IdentityPart> = Vec::new();
    for role in wanted {
        let part = match written.contains(&role) {
            true => given(role),
            // ARNs and URLs end with the name.
            false if role.is_own() && written.contains(&Role::Name) && role != Role::Id => {
                given(Role::Name)
            }
            false if role.is_own() && creates => IdentityPart {
                role,
                is_generated: true,
            },
            false => {
                return Err(format!(
                    "{} requires {}, which {} does not have",
                    reader.name(),
                    role.name(),
                    writer.name()
                ));
            }
        };
        if !identity.contains(&part) {
            identity.push(part);
        }
    }
    Ok(identity)
}

/// The identity of what is only written and listed: all that its writer requires if it is put, and
/// its own identifier if it is created.
fn listed_only(
    noun: &str,
    required: Vec<Role>,
    written: &[Role],
    creates: bool,
) -> Result<Vec<IdentityPart>, String> {
    if !creates {
        return match required.is_empty() {
            true => Err(format!("no operation reads or deletes {noun}")),
            false => Ok(required.into_iter().map(given).collect()),
        };
    }
    let own = [Role::Name, Role::Id, Role::Arn];
    let own = own.into_iter().find(|role| written.contains(role));
    Ok(vec![match own {
        Some(own) => given(own),
        None => IdentityPart {
            role: Role::Id,
            is_generated: true,
        },
    }])
}

const fn given(role: Role) -> IdentityPart {
    IdentityPart {
        role,
        is_generated: false,
    }
}

/// The roles of members of an input, in the order of the model.
fn roles(noun: &str, operation: Operation<'_>, wanted: impl Fn(&Member<'_>) -> bool) -> Vec<Role> {
    let members = operation.input().members();
    let members = members.filter(|member| is_scalar(member.kind()) && wanted(member));
    members.map(|member| role(noun, member.name())).collect()
}
