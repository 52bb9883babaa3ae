//! Whether a launcher of MPI has started this process, and as one of how many.
//!
//! Starting MPI in a process that nobody launched takes time and may fail, so the variables that launchers set are looked
//! at first. Those of Slurm itself are not among them: a batch script has them too, and is one process.

use std::env;

/// Size and rank, in the words of: OpenMPI's mpirun; Hydra (MPICH, Intel MPI, MVAPICH) and `srun --mpi=pmi2`; PMIx, as in
/// `srun --mpi=pmix`, which says no size.
const VARIABLES: [(&str, &str); 3] =
    [("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK"), ("SLURM_STEP_NUM_TASKS", "PMIX_RANK")];

/// How many processes were launched; `None` if this one was not launched.
pub(super) fn size() -> Option<usize> {
    launched().map(|(size, _)| size)
}

/// Whether another process was launched that speaks for all.
pub(crate) fn is_follower() -> bool {
    cfg!(feature = "mpi") && launched().is_some_and(|(_, rank)| rank > 0)
}

fn launched() -> Option<(usize, usize)> {
    find(|name| env::var(name).ok()?.trim().parse().ok())
}

fn find(number: impl Fn(&str) -> Option<usize>) -> Option<(usize, usize)> {
    VARIABLES.iter().find_map(|(size, rank)| Some((number(size)?, number(rank)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_what_they_set() {
        let found = |set: &[(&str, usize)]| find(|name| set.iter().find(|(known, _)| *known == name).map(|of| of.1));
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", 4), ("OMPI_COMM_WORLD_RANK", 3)]), Some((4, 3)));
        assert_eq!(found(&[("PMI_RANK", 0), ("PMI_SIZE", 2)]), Some((2, 0)));
        assert_eq!(found(&[("SLURM_STEP_NUM_TASKS", 8), ("PMIX_RANK", 5), ("SLURM_PROCID", 5)]), Some((8, 5)));
        // A batch script.
        assert_eq!(found(&[("SLURM_NTASKS", 8), ("SLURM_PROCID", 0)]), None);
    }
}
