//! How the equation dx = μ(x) dt + √Σ(x) dW is solved, in the sense of Itô.
//!
//! | scheme | number | x_{k+1} | evaluations of μ per step |
//! |---|---|---|---|
//! | Euler–Maruyama | 0 | x_k + μ(x_k) dt + √(Σ(x_k) dt) ε_k | 1 |
//! | midpoint | 1 | x_k + μ(x̃_k) dt + √(Σ(x̃_k) dt) ε_k, x̃_k = x_k + ½ μ(x_k) dt | 2 |
//!
//! x̃_k is known before ε_k is drawn, so both are Itô's. The error of the drift is of first order in dt, or of second.

/// What a step of a flow does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scheme {
    /// One evaluation of the field.
    EulerMaruyama = 0,
    /// Two of the drift and one of the diffusion; for fields that do not change with time.
    Midpoint = 1,
}

impl Scheme {
    /// The scheme with this number in the blob format, if there is one.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::EulerMaruyama),
            1 => Some(Self::Midpoint),
            _ => None,
        }
    }

    /// The number of this scheme in the blob format.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// How often a step evaluates the drift.
    pub const fn evaluations(self) -> usize {
        match self {
            Self::EulerMaruyama => 1,
            Self::Midpoint => 2,
        }
    }

    /// One word, for files and tables.
    pub const fn id(self) -> &'static str {
        match self {
            Self::EulerMaruyama => "euler-maruyama",
            Self::Midpoint => "midpoint",
        }
    }
}
