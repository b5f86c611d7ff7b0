//! A group of cases, which the command line selects by name.

use crate::case::Case;
use crate::data::DataFolder;
use crate::load::Load;
use crate::measurement::Skipped;

/// A row of the table of groups that a program hands to [`run`](crate::run()).
#[derive(Clone, Copy)]
pub struct GroupEntry {
    /// The name on the command line.
    pub name: &'static str,
    /// A line for `--list`.
    pub about: &'static str,
    /// Adds the group's cases. It must add the same cases each time, because it runs again in
    /// each process that counts instructions.
    pub cases: fn(&mut Group),
}

/// The cases of a group, in the order in which they were added.
pub struct Group {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
    pub(crate) loads: Vec<Load>,
    pub(crate) skipped: Vec<Skipped>,
    data: DataFolder,
}

impl Group {
    /// An empty group that finds its data in a folder.
    pub fn new(name: impl Into<String>, data: DataFolder) -> Self {
        Self {
            name: name.into(),
            cases: Vec::new(),
            loads: Vec::new(),
            skipped: Vec::new(),
            data,
        }
    }

    /// Adds a case. Its name is unique in the group; the baseline and other cases refer to it.
    pub fn case(&mut self, name: impl Into<String>) -> &mut Case {
        let name = name.into();
        assert!(
            self.cases.iter().all(|case| case.name != name),
            "group {} has two cases called {name}",
            self.name
        );
        let index = self.cases.len();
        self.cases.push(Case::new(name));
        &mut self.cases[index]
    }

    /// Adds peers and targets to a case that another function added. Does nothing if the case
    /// was skipped because its data is missing.
    ///
    /// # Panics
    ///
    /// If the group has no case of that name.
    pub fn extend(&mut self, name: &str, add: impl FnOnce(&mut Case)) {
        if let Some(case) = self.cases.iter_mut().find(|case| case.name == name) {
            return add(case);
        }
        assert!(
            self.has_case(name),
            "group {} has no case called {name}",
            self.name
        );
    }

    /// Adds a load: systems that run for a while. Its name is unique in the group.
    pub fn load(&mut self, name: impl Into<String>) -> &mut Load {
        let name = name.into();
        assert!(
            self.loads.iter().all(|load| load.name != name),
            "group {} has two loads called {name}",
            self.name
        );
        let index = self.loads.len();
        self.loads.push(Load::new(name));
        &mut self.loads[index]
    }

    /// Adds a case that needs data files. Skips it if one is missing. The case's size is that
    /// of the first file unless `build` sets another.
    pub fn case_from<const N: usize>(
        &mut self,
        name: impl Into<String>,
        files: [&str; N],
        build: impl FnOnce(&mut Case, [&'static [u8]; N]),
    ) {
        let name = name.into();
        let mut contents: [&'static [u8]; N] = [&[]; N];
        for (content, file) in contents.iter_mut().zip(files) {
            match self.data.read(file) {
                Ok(bytes) => *content = bytes,
                Err(reason) => return self.skip(name, reason),
            }
        }
        let case = self.case(name);
        case.bytes(contents.first().map_or(0, |content| content.len()));
        build(case, contents);
    }

    /// The bytes of a data file. Pass an error to [`skip`](Self::skip).
    pub fn data(&self, name: &str) -> Result<&'static [u8], String> {
        self.data.read(name)
    }

    /// The folder of the data files, for peers that open files themselves.
    pub fn data_folder(&self) -> &DataFolder {
        &self.data
    }

    /// Reports something as skipped, with the reason. In CI a skip fails the run.
    pub fn skip(&mut self, case: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped {
            name: format!("{}/{}", self.name, case.into()),
            reason: reason.into(),
        });
    }

    /// The names of the cases, then those of the loads.
    pub fn case_names(&self) -> Vec<&str> {
        let cases = self.cases.iter().map(|case| case.name.as_str());
        let loads = self.loads.iter().map(|load| load.name.as_str());
        cases.chain(loads).collect()
    }

    /// Targets that can never be judged: those that name an unknown peer or case, and those of
    /// a case without our own subject. Called before a filter is applied.
    pub(crate) fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        for case in &self.cases {
            let place = format!("{}/{}", self.name, case.name);
            let subjects = || case.subjects.iter().map(|subject| subject.name.as_str());
            if !case.targets.is_empty() && subjects().all(|name| name != crate::POLYWIRE) {
                mistakes.push(format!(
                    "{place} has targets but no subject {}",
                    crate::POLYWIRE
                ));
            }
            for target in &case.targets {
                if let Some(peer) = target.peer()
                    && subjects()
                        .chain(case.quotes.iter().map(|quote| quote.name.as_str()))
                        .all(|name| name != peer)
                {
                    mistakes.push(format!(
                        "a target of {place} names {peer:?}, which is no peer or quote of it"
                    ));
                }
                if let Some(other) = target.other_case()
                    && !self.has_case(other)
                {
                    mistakes.push(format!(
                        "a target of {place} names {other:?}, which is no case of the group"
                    ));
                }
            }
        }
        for load in &self.loads {
            mistakes.extend(load.mistakes());
        }
        mistakes
    }

    /// Whether the group has a case, or would have it with its data.
    fn has_case(&self, name: &str) -> bool {
        self.cases.iter().any(|case| case.name == name)
            || self
                .skipped
                .iter()
                .any(|skipped| skipped.name == format!("{}/{name}", self.name))
    }

    /// Retains the cases, loads and skips whose `group/case` contains the text.
    pub(crate) fn filter(&mut self, text: &str) {
        let group = &self.name;
        self.cases
            .retain(|case| format!("{group}/{}", case.name).contains(text));
        self.loads
            .retain(|load| format!("{group}/{}", load.name).contains(text));
        self.skipped.retain(|skipped| skipped.name.contains(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group() -> Group {
        Group::new("group", DataFolder::at(env!("CARGO_MANIFEST_DIR")))
    }

    #[test]
    fn a_case_with_its_data_has_the_size_of_the_first_file() {
        let mut group = group();
        group.case_from(
            "case",
            ["Cargo.toml", "src/lib.rs"],
            |case, [first, second]| {
                assert!(!second.is_empty());
                assert_eq!(case.bytes, first.len());
            },
        );
        assert_eq!(group.case_names(), ["case"]);
    }

    #[test]
    fn a_case_without_its_data_is_skipped() {
        let mut group = group();
        group.case_from("case", ["none.xml"], |_, _| unreachable!());
        assert!(group.cases.is_empty());
        assert_eq!(group.skipped[0].name, "group/case");
        assert!(group.skipped[0].reason.contains("none.xml"));
    }

    #[test]
    fn a_filter_looks_at_group_and_case() {
        let mut group = group();
        group.case("one");
        group.case("two");
        group.filter("group/t");
        assert_eq!(group.case_names(), ["two"]);
    }

    #[test]
    fn targets_that_name_something_unknown_are_mistakes() {
        let mut group = group();
        group
            .case("one")
            .polywire(|| (), |()| true)
            .peer("peer", || (), |()| true)
            .quote(crate::Quote::new("seed", "anchors"))
            .target_ratio_time("peer", 1.0)
            .target_ratio_time("seed", 1.0)
            .target_instructions_of_case("two", 1.0);
        group.case_from("two", ["none.xml"], |_, _| ());
        assert_eq!(group.mistakes(), Vec::<String>::new());
        group
            .case("three")
            .target_ratio_time("pear", 1.0)
            .target_instructions_of_case("four", 1.0);
        assert_eq!(group.mistakes().len(), 3);
    }

    #[test]
    fn a_case_can_be_extended_unless_it_was_skipped() {
        let mut group = group();
        group.case("one").polywire(|| (), |()| true);
        group.case_from("absent", ["none.xml"], |_, _| ());
        group.extend("one", |case| {
            case.peer("peer", || (), |()| true);
        });
        group.extend("absent", |_| unreachable!());
        assert_eq!(group.cases[0].subjects.len(), 2);
    }

    #[test]
    #[should_panic(expected = "no case called two")]
    fn extending_an_unknown_case_is_a_mistake() {
        group().extend("two", |_| ());
    }

    #[test]
    #[should_panic(expected = "two cases called one")]
    fn two_cases_of_one_name_are_a_mistake() {
        let mut group = group();
        group.case("one");
        group.case("one");
    }
}
