use proptest::prelude::*;

use super::*;

/// The number of keys with equal hashes in these tests.
const COLLISIONS: usize = 50;

/// Returns different keys with equal hashes. Each key has two words. The second word cancels the
/// hash of the first.
fn colliding_keys() -> Vec<String> {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let keys = (0_u64..).filter_map(|count| {
        let first = format!("{count:08}");
        let word = u64::from_le_bytes(first.as_bytes().try_into().ok()?);
        let front = (16_u64.rotate_left(29) ^ word).wrapping_mul(MULTIPLIER);
        let second = (front.rotate_left(29) ^ 0x55).to_le_bytes();
        let second = second
            .is_ascii()
            .then(|| String::from_utf8(second.to_vec()))?;
        Some(first + &second.ok()?)
    });
    let keys: Vec<String> = keys.take(COLLISIONS).collect();
    assert!(keys.iter().all(|key| hash(key) == hash(&keys[0])));
    keys
}

proptest! {
    #[test]
    fn behaves_as_a_map(
        steps in proptest::collection::vec((any::<bool>(), 0..40_u32, any::<i64>()), 0..200),
    ) {
        let mut map = Map::new();
        let mut model = BTreeMap::new();
        for (add, key, value) in steps {
            let key = key.to_string();
            if add {
                let before = map.insert(key.clone(), value);
                prop_assert_eq!(before, model.insert(key, value).map(Value::from));
            } else {
                prop_assert_eq!(map.remove(&key), model.remove(&key).map(Value::from));
            }
            prop_assert_eq!(map.len(), model.len());
        }
        for (key, value) in &model {
            prop_assert_eq!(map.get(key), Some(&Value::from(*value)));
        }
        prop_assert_eq!(map.get("none"), None);
    }

    /// Compares with a `BTreeMap`. Half of the keys have equal hashes.
    #[test]
    fn behaves_as_a_map_with_colliding_keys(
        steps in proptest::collection::vec((0..8_u8, 0..COLLISIONS * 2, any::<i64>()), 0..400),
    ) {
        let colliding = colliding_keys();
        let mut map = Map::new();
        let mut model = BTreeMap::new();
        for (what, key, value) in steps {
            let key = match key.checked_sub(COLLISIONS) {
                None => colliding[key].clone(),
                Some(key) => key.to_string(),
            };
            if what > 0 {
                let before = map.insert(key.clone(), value);
                prop_assert_eq!(before, model.insert(key, value).map(Value::from));
            } else {
                prop_assert_eq!(map.remove(&key), model.remove(&key).map(Value::from));
            }
        }
        prop_assert_eq!(map.len(), model.len());
        let others = (0..COLLISIONS).map(|key| key.to_string());
        for key in colliding.iter().cloned().chain(others) {
            let expected = model.get(&key).map(|value| Value::from(*value));
            prop_assert_eq!(map.get(&key), expected.as_ref());
        }
        let again = Map::from_iter(map.iter().map(|(key, value)| (key, value.clone())));
        prop_assert!(again.keys().eq(map.keys()));
        for (position, key) in map.keys().enumerate() {
            prop_assert_eq!(map.position(key), Some(position));
            prop_assert_eq!(again.position(key), Some(position));
        }
    }

    #[test]
    fn duplicates_among_colliding_keys_are_found(
        keys in proptest::collection::vec(0..COLLISIONS, 0..60),
    ) {
        let colliding = colliding_keys();
        let entries: Vec<_> = keys.iter()
            .map(|key| (Text::from(colliding[*key].as_str()), Value::Null)).collect();
        let first_duplicate = (0..keys.len()).find(|at| keys[..*at].contains(&keys[*at]));
        prop_assert_eq!(Map::from_entries(entries).err().map(|(at, _)| at), first_duplicate);
    }

    #[test]
    fn duplicate_keys_are_found(keys in proptest::collection::vec(0..60_u32, 0..40)) {
        let entries: Vec<_> = keys.iter()
            .map(|key| (Text::from(key.to_string()), Value::Null)).collect();
        let first_duplicate = (0..keys.len()).find(|at| keys[..*at].contains(&keys[*at]));
        prop_assert_eq!(Map::from_entries(entries).err().map(|(at, _)| at), first_duplicate);
    }
}

#[test]
fn duplicate_keys_keep_the_first_position_and_the_last_value() {
    for len in [3, 1_000] {
        let entries = (0..len).map(|number| (number.to_string(), number));
        let map = Map::from_iter(entries.chain([("1".to_owned(), -1), ("0".to_owned(), -2)]));
        assert_eq!(map.len() as i64, len);
        assert_eq!(map.entries()[0], (Text::from("0"), Value::from(-2)));
        assert_eq!(map.entries()[1], (Text::from("1"), Value::from(-1)));
        assert_eq!(map.get("2"), Some(&Value::from(2)));
    }
}
