//! Which of several addresses to connect to (RFC 8305, "Happy Eyeballs").

use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, sleep};

/// After this time without a result the next attempt starts (RFC 8305, section 5).
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Connects to the first of these addresses that answers. A new attempt starts after a failure or after
/// [`ATTEMPT_DELAY`]. Earlier attempts continue. So an address that drops packets delays the connection by no more than
/// that.
///
/// # Errors
///
/// All attempts have failed: the error of the last one, or none if there is no address.
pub(crate) async fn race<T, E, F>(
    addresses: Vec<SocketAddr>,
    attempt: impl Fn(SocketAddr) -> F,
) -> Result<T, Option<E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut addresses = interleaved(addresses).into_iter();
    let mut attempts: Vec<Pin<Box<F>>> = Vec::new();
    let mut delay = pin!(sleep(ATTEMPT_DELAY));
    let mut failed = None;
    poll_fn(|context| {
        let mut starts = attempts.is_empty();
        loop {
            let mut index = 0;
            while index < attempts.len() {
                match attempts[index].as_mut().poll(context) {
                    Poll::Pending => index += 1,
                    Poll::Ready(Ok(connected)) => return Poll::Ready(Ok(connected)),
                    Poll::Ready(Err(error)) => {
                        failed = Some(error);
                        drop(attempts.remove(index));
                        starts = true;
                    }
                }
            }
            starts |= delay.as_mut().poll(context).is_ready();
            let next = match starts {
                true => addresses.next(),
                false => return Poll::Pending,
            };
            let Some(address) = next else {
                return match attempts.is_empty() {
                    true => Poll::Ready(Err(failed.take())),
                    false => Poll::Pending,
                };
            };
            attempts.push(Box::pin(attempt(address)));
            delay.as_mut().reset(Instant::now() + ATTEMPT_DELAY);
            starts = false;
        }
    })
    .await
}

/// The addresses with the two families in turn, that of the first address first (RFC 8305, section 4).
fn interleaved(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let first = addresses.first().map(SocketAddr::is_ipv6);
    let (own, other): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| Some(address.is_ipv6()) == first);
    let mut all = Vec::with_capacity(own.len() + other.len());
    let (mut own, mut other) = (own.into_iter(), other.into_iter());
    loop {
        let pair = [own.next(), other.next()];
        if pair == [None, None] {
            return all;
        }
        all.extend(pair.into_iter().flatten());
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    fn addresses(text: &[&str]) -> Vec<SocketAddr> {
        text.iter().map(|text| text.parse().unwrap()).collect()
    }

    const TWO: [&str; 2] = ["192.0.2.1:1", "192.0.2.2:1"];

    /// Packets to the first address are dropped without an error.
    #[tokio::test(start_paused = true)]
    async fn a_blackholed_address_is_skipped() {
        let began = Instant::now();
        let connected = race(addresses(&TWO), |address| async move {
            match address.ip().to_string().as_str() {
                "192.0.2.1" => pending().await,
                _ => Ok::<_, ()>(address),
            }
        });
        assert_eq!(connected.await, Ok(addresses(&TWO)[1]));
        assert_eq!(began.elapsed(), ATTEMPT_DELAY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusing_address_is_skipped_at_once() {
        let began = Instant::now();
        let connected = race(addresses(&TWO), |address| async move {
            match address.ip().to_string().as_str() {
                "192.0.2.1" => Err("refused"),
                _ => Ok(address),
            }
        });
        assert_eq!(connected.await, Ok(addresses(&TWO)[1]));
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    /// The first address answers after 300 ms. The second answers after 100 ms, but is tried 250 ms later.
    #[tokio::test(start_paused = true)]
    async fn the_first_connection_wins() {
        let connected = race(addresses(&TWO), |address| async move {
            match address.ip().to_string().as_str() {
                "192.0.2.1" => sleep(Duration::from_millis(300)).await,
                _ => sleep(Duration::from_millis(100)).await,
            }
            Ok::<_, ()>(address)
        });
        assert_eq!(connected.await, Ok(addresses(&TWO)[0]));
    }

    #[tokio::test(start_paused = true)]
    async fn all_have_failed() {
        let failed = race(addresses(&TWO), |address| async move {
            sleep(Duration::from_millis(300)).await;
            Err::<(), _>(address)
        });
        assert_eq!(failed.await, Err(Some(addresses(&TWO)[1])));
        let none = race(Vec::new(), |_| async { Err::<(), _>(()) }).await;
        assert_eq!(none, Err(None));
    }

    #[test]
    fn address_families_alternate() {
        let mixed = ["[::1]:1", "[::2]:1", "[::3]:1", "192.0.2.1:1"];
        let expected = ["[::1]:1", "192.0.2.1:1", "[::2]:1", "[::3]:1"];
        assert_eq!(interleaved(addresses(&mixed)), addresses(&expected));
    }
}
