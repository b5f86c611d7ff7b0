//! Casts in generic code.

use std::any::Any;

/// Casts a value to its own type, which a generic caller does not know.
#[expect(clippy::unwrap_used, reason = "each path takes the value once")]
pub(super) fn downcast<A: 'static, B: 'static>(value: A) -> Result<B, A> {
    let mut value = Some(value);
    let any: &mut dyn Any = &mut value;
    match any.downcast_mut::<Option<B>>() {
        Some(cast) => Ok(cast.take().unwrap()),
        None => Err(value.unwrap()),
    }
}
