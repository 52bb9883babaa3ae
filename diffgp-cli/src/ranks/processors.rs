//! How many worker threads a rank starts when nobody says it.
//!
//! Launchers differ: some bind every rank to a core or a socket, others to nothing. Ranks that may use the same cores of the
//! same machine share them, so that together they start one thread per core.

use std::fs;
use std::thread;

use diffgp_train::exchange::{Exchange, ExchangeError};

/// The share of this rank in the cores that it may use, at least one.
pub(super) fn share(exchange: &dyn Exchange, machine: &str) -> Result<usize, ExchangeError> {
    let own = format!("{machine}\n{}", allowed(&fs::read_to_string("/proc/self/status").unwrap_or_default()));
    let all = exchange.all_gather(own.as_bytes())?;
    let sharing = all.iter().filter(|other| ***other == *own.as_bytes()).count();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    Ok((cores / sharing.max(1)).max(1))
}

/// The cores that a process may use, as Linux says it; nothing elsewhere.
fn allowed(status: &str) -> &str {
    status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ranks with these facts, seen from the first.
    #[derive(Debug)]
    struct Told(Vec<Vec<u8>>);

    impl Exchange for Told {
        fn rank(&self) -> usize {
            0
        }

        fn size(&self) -> usize {
            self.0.len() + 1
        }

        fn send(&self, _: usize, _: &[u8]) -> Result<(), ExchangeError> {
            unreachable!("nothing is sent")
        }

        fn receive(&self, _: usize, _: &mut [u8]) -> Result<(), ExchangeError> {
            unreachable!("nothing is sent")
        }

        fn broadcast(&self, _: usize, _: &mut [u8]) -> Result<(), ExchangeError> {
            unreachable!("nothing is sent")
        }

        fn all_gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, ExchangeError> {
            Ok([own.to_vec()].into_iter().chain(self.0.iter().cloned()).collect())
        }
    }

    #[test]
    fn ranks_on_the_same_cores_share_them() {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let own = format!("here\n{}", allowed(&fs::read_to_string("/proc/self/status").unwrap_or_default()));
        let share = |others: &[String]| {
            share(&Told(others.iter().map(|other| other.as_bytes().to_vec()).collect()), "here").unwrap()
        };
        assert_eq!(share(&[]), cores);
        assert_eq!(share(std::slice::from_ref(&own)), (cores / 2).max(1));
        assert_eq!(share(&vec![own.clone(); 1000]), 1);
        // Bound to other cores, or on another machine.
        assert_eq!(share(&["here\n9999".to_owned(), own.replace("here", "there")]), cores);
    }

    #[test]
    fn cores_are_read_from_what_linux_writes() {
        assert_eq!(allowed("Name:\tdiffgp\nCpus_allowed:\tff\nCpus_allowed_list:\t0-7\nMems_allowed:\t1\n"), "0-7");
        assert_eq!(allowed(""), "");
    }
}
