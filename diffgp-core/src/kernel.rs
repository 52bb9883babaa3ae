//! Stationary kernels k(x,z) = s² ρ(r²) over the scaled squared distance r² = Σᵢ ((xᵢ−zᵢ)/ℓᵢ)².
//!
//! | kind | ρ(r²) |
//! |---|---|
//! | RBF | exp(−r²/2) |
//! | Matérn 3/2 | (1 + √3 r) exp(−√3 r) |
//! | Matérn 5/2 | (1 + √5 r + 5r²/3) exp(−√5 r) |
//!
//! ρ(0) = 1 and 0 ≤ ρ ≤ 1 for every kind. A new kind gets a new number; numbers are part of the blob format.

/// Which correlation function ρ a Gaussian process uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// Squared exponential: infinitely smooth.
    Rbf,
    /// Matérn with ν = 3/2: once differentiable.
    Matern32,
    /// Matérn with ν = 5/2: twice differentiable.
    Matern52,
}
