//! Versions of objects, compared with a simple model of S3's rules.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::error::Error;

/// A change of one of two keys.
#[derive(Clone, Debug)]
enum Step {
    SetVersioning(bool),
    Put(usize),
    Delete(usize),
    /// Deletes the version at this position, counted from the newest one, modulo their number.
    DeleteVersion(usize, usize),
    /// Copies the newest version of the first key to the second one.
    Copy(usize, usize),
    Tag(usize),
}

const KEYS: [&str; 2] = ["a", "a/b"];

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS.len();
    prop_oneof![
        5 => any::<bool>().prop_map(Step::SetVersioning),
        6 => key().prop_map(Step::Put),
        3 => key().prop_map(Step::Delete),
        4 => (key(), 0..8usize).prop_map(|(key, at)| Step::DeleteVersion(key, at)),
        2 => (key(), key()).prop_map(|(from, to)| Step::Copy(from, to)),
        1 => key().prop_map(Step::Tag),
    ]
}

/// A version in the model.
#[derive(Clone, Debug, Eq, PartialEq)]
struct ModelVersion {
    is_null: bool,
    /// The number of the put that stored its bytes. `None` for a delete marker.
    content: Option<u64>,
    is_tagged: bool,
}

/// The versions of each key, the newest first.
#[derive(Debug, Default)]
struct Model {
    versioning: Versioning,
    keys: BTreeMap<&'static str, Vec<ModelVersion>>,
}

impl Model {
    fn add(&mut self, key: &'static str, mut version: ModelVersion) {
        let versions = self.keys.entry(key).or_default();
        version.is_null = self.versioning != Versioning::Enabled;
        if version.is_null {
            versions.retain(|old| !old.is_null);
        }
        versions.insert(0, version);
    }

    fn delete(&mut self, key: &'static str) {
        match self.versioning {
            Versioning::Off => drop(self.keys.remove(key)),
            _ => self.add(
                key,
                ModelVersion {
                    is_null: false,
                    content: None,
                    is_tagged: false,
                },
            ),
        }
    }

    fn newest(&self, key: &str) -> Option<&ModelVersion> {
        let newest = self.keys.get(key)?.first()?;
        newest.content.is_some().then_some(newest)
    }
}

/// A store and its model.
struct Pair {
    store: Store,
    model: Model,
    puts: u64,
}

impl Pair {
    async fn step(&mut self, step: Step) {
        match step {
            Step::SetVersioning(is_enabled) => {
                self.model.versioning = match is_enabled {
                    true => Versioning::Enabled,
                    false => Versioning::Suspended,
                };
                let versioning = self.model.versioning;
                let change = move |changes: &mut Changes<'_>| {
                    let mut bucket = changes.bucket("b")?;
                    bucket.versioning = versioning;
                    changes.set_bucket("b", &bucket)
                };
                self.store.change(change).await.unwrap();
            }
            Step::Put(key) => self.put(KEYS[key]).await,
            Step::Delete(key) => {
                let key = KEYS[key];
                self.model.delete(key);
                let change =
                    move |changes: &mut Changes<'_>| changes.delete("b", key, 1, |_| Ok(()));
                self.store.change(change).await.unwrap();
            }
            Step::DeleteVersion(key, at) => self.delete_version(KEYS[key], at).await,
            Step::Copy(from, to) => self.copy(KEYS[from], KEYS[to]).await,
            Step::Tag(key) => {
                let key = KEYS[key];
                let tag = Tag {
                    key: "k".into(),
                    value: "v".into(),
                };
                let change =
                    move |changes: &mut Changes<'_>| changes.set_tags("b", key, None, vec![tag]);
                let is_tagged = self.store.change(change).await.is_ok();
                assert_eq!(is_tagged, self.model.newest(key).is_some());
                if is_tagged {
                    self.model.keys.get_mut(key).unwrap()[0].is_tagged = true;
                }
            }
        }
    }

    async fn put(&mut self, key: &'static str) {
        self.puts += 1;
        // Bodies that are not inline, of different lengths.
        let body = vec![7; 5000 + usize::try_from(self.puts).unwrap()];
        let mut received = self.store.receive(body.into(), u64::MAX).await.unwrap();
        let file = received.file.take();
        let mut version = Version::default();
        version.summary.size = received.size;
        version.detail.segments = file.iter().map(DataFile::segment).collect();
        let change =
            move |changes: &mut Changes<'_>| changes.put("b", key, version, file, |_| Ok(()));
        self.store.change(change).await.unwrap();
        let version = ModelVersion {
            is_null: false,
            content: Some(self.puts),
            is_tagged: false,
        };
        self.model.add(key, version);
    }

    async fn copy(&mut self, from: &'static str, to: &'static str) {
        let change = move |changes: &mut Changes<'_>| {
            let version = changes.newest("b", from)?;
            let version = version.filter(|version| !version.summary.is_marker);
            changes.put("b", to, version.ok_or(Error::NoSuchKey)?, None, |_| Ok(()))
        };
        let is_copied = self.store.change(change).await.is_ok();
        let source = self.model.newest(from).cloned();
        assert_eq!(is_copied, source.is_some());
        if let Some(source) = source {
            self.model.add(to, source);
        }
    }

    async fn delete_version(&mut self, key: &'static str, at: usize) {
        let versions = self
            .store
            .view()
            .unwrap()
            .versions_of("b", key, None, 99)
            .unwrap();
        if versions.is_empty() {
            return;
        }
        let at = at % versions.len();
        let id = versions[at].0.id();
        let change =
            move |changes: &mut Changes<'_>| changes.delete_version("b", key, &id, |_| Ok(()));
        self.store.change(change).await.unwrap();
        self.model.keys.get_mut(key).unwrap().remove(at);
    }

    /// Compares all versions, and the references of files.
    fn check(&self) {
        let view = self.store.view().unwrap();
        let mut references: BTreeMap<u64, u32> = BTreeMap::new();
        for key in KEYS {
            let expected = self.model.keys.get(key).cloned().unwrap_or_default();
            let summaries = view.versions_of("b", key, None, 99).unwrap();
            let mut found = Vec::new();
            for (index, (summary, is_latest)) in summaries.iter().enumerate() {
                assert_eq!(*is_latest, index == 0);
                let version = view.version("b", key, &summary.id()).unwrap().unwrap();
                for segment in &version.detail.segments {
                    *references.entry(segment.file).or_default() += 1;
                }
                found.push(ModelVersion {
                    is_null: summary.is_null,
                    content: (!summary.is_marker).then(|| summary.size - 5000),
                    is_tagged: !version.detail.tags.is_empty(),
                });
                // The list continues after each version.
                let rest = view.versions_of("b", key, Some(&summary.id()), 99).unwrap();
                assert_eq!(rest.len(), summaries.len() - index - 1);
            }
            assert_eq!(found, expected, "{key}");
        }
        assert_eq!(view.references().unwrap(), references);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn versions_follow_the_model(steps in proptest::collection::vec(step(), 10..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let store = tests::open(directory.path()).await;
            let mut pair = Pair { store, model: Model::default(), puts: 0 };
            for step in steps {
                pair.step(step).await;
                pair.check();
            }
        });
    }
}
