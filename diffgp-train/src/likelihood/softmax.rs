//! C classes on C outputs: p(y | g) = exp(g_y) / Σ_c exp(g_c).

use super::quadrature::GAUSS_HERMITE;
use super::{Density, Latent, Slopes};
use std::sync::LazyLock;

pub(super) struct Softmax;

static MODE: LazyLock<String> = LazyLock::new(|| std::env::var("SM_MODE").unwrap_or("tilted".into()));
static PRED: LazyLock<String> = LazyLock::new(|| std::env::var("SM_PRED").unwrap_or("mf".into()));
static SAMPLES: LazyLock<usize> =
    LazyLock::new(|| std::env::var("SM_SAMPLES").ok().and_then(|s| s.parse().ok()).unwrap_or(16));
static COUNTER: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
const EPS: f64 = 1e-3;

fn lattice(c: usize) -> &'static Vec<Vec<f64>> {
    static NODES: LazyLock<Vec<Vec<Vec<f64>>>> = LazyLock::new(|| {
        (0..33)
            .map(|c| {
                let half = *SAMPLES / 2;
                let mut phi_d = 2.0_f64;
                for _ in 0..60 {
                    phi_d = (1.0 + phi_d).powf(1.0 / (c as f64 + 1.0));
                }
                let mut nodes: Vec<Vec<f64>> = (0..half)
                    .map(|i| {
                        (0..c)
                            .map(|k| {
                                let alpha = phi_d.powi(-(k as i32 + 1));
                                let u = (0.5 + (i as f64 + 1.0) * alpha).fract();
                                // invert by bisection
                                let (mut lo, mut hi) = (-6.0, 6.0);
                                for _ in 0..50 {
                                    let mid = 0.5 * (lo + hi);
                                    if phi(mid) < u { lo = mid } else { hi = mid }
                                }
                                lo
                            })
                            .collect()
                    })
                    .collect();
                for k in 0..c {
                    let s: f64 = nodes.iter().map(|n| n[k] * n[k]).sum::<f64>() / half as f64;
                    nodes.iter_mut().for_each(|n| n[k] /= s.sqrt());
                }
                let mirrored: Vec<Vec<f64>> = nodes.iter().map(|n| n.iter().map(|x| -x).collect()).collect();
                nodes.extend(mirrored);
                nodes
            })
            .collect()
    });
    &NODES[c]
}

fn phi(x: f64) -> f64 {
    0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
}
fn pdf(x: f64) -> f64 {
    (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

impl Density for Softmax {
    fn number(&self) -> u8 {
        2
    }

    fn has_closed_form(&self) -> bool {
        false
    }

    fn classes(&self, outputs: usize) -> Option<usize> {
        Some(outputs)
    }

    fn expectation(&self, y: &[f64], at: Latent<'_>, slopes: &mut Slopes<'_>) -> f64 {
        let Latent { mean, variance } = at;
        let c = mean.len();
        let class = (y[0] as usize).min(c - 1);
        match MODE.as_str() {
            "robust" => {
                // P(g_y > all others) by quadrature over g_y
                let spread = (2.0 * variance[class]).sqrt();
                let (mut p, mut pm) = (0.0, vec![0.0; c]);
                let mut pv = vec![0.0; c];
                let scale = (1.0 - EPS).ln() - (EPS / (c - 1) as f64).ln();
                for &(node, weight) in GAUSS_HERMITE.iter() {
                    let g = mean[class] + spread * node;
                    let mut product = 1.0;
                    for k in (0..c).filter(|&k| k != class) {
                        product *= phi((g - mean[k]) / variance[k].sqrt()).max(1e-300);
                    }
                    p += weight * product;
                    for k in (0..c).filter(|&k| k != class) {
                        let s = variance[k].sqrt();
                        let z = (g - mean[k]) / s;
                        let ratio = pdf(z) / phi(z).max(1e-300) * product * weight;
                        pm[k] -= ratio / s;
                        pv[k] -= ratio * z / (2.0 * variance[k]);
                        pm[class] += ratio / s;
                        pv[class] += ratio / s * node / spread;
                    }
                }
                for k in 0..c {
                    slopes.mean[k] = scale * pm[k];
                    slopes.variance[k] = scale * pv[k];
                }
                p * (1.0 - EPS).ln() + (1.0 - p) * (EPS / (c - 1) as f64).ln()
            }
            "lattice" => {
                let nodes = lattice(c);
                let n = nodes.len() as f64;
                let (mut value, mut pm, mut pv) = (0.0, vec![0.0; c], vec![0.0; c]);
                let mut g = vec![0.0; c];
                for e in nodes {
                    for k in 0..c {
                        g[k] = mean[k] + variance[k].sqrt() * e[k];
                    }
                    let top = g.iter().copied().fold(f64::MIN, f64::max);
                    let mut sum = 0.0;
                    let gy = g[class];
                    for k in 0..c {
                        g[k] = (g[k] - top).exp();
                        sum += g[k];
                    }
                    value += gy - top - sum.ln();
                    for k in 0..c {
                        let p = g[k] / sum;
                        pm[k] += p;
                        pv[k] += p * e[k];
                    }
                }
                for k in 0..c {
                    slopes.mean[k] = f64::from(k == class) - pm[k] / n;
                    slopes.variance[k] = (-pv[k] + if k == class { 0.0 } else { 0.0 }) / n / (2.0 * variance[k].sqrt());
                }
                value / n
            }
            "sampled" => {
                let n = *SAMPLES;
                let (mut value, mut pm, mut pv) = (0.0, vec![0.0; c], vec![0.0; c]);
                let id = COUNTER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                let mut g = vec![0.0; c];
                for s in 0..n {
                    let mut words = [0u32; 4];
                    for k in 0..c {
                        if k % 2 == 0 {
                            words = crate::philox::philox([id, s as u32, k as u32, 77 << 24], [9, 9]);
                        }
                        let u = (f64::from(words[(k % 2) * 2]) + 1.0) / 4294967297.0;
                        let a = f64::from(words[(k % 2) * 2 + 1]) / 4294967296.0;
                        let e = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * a).cos();
                        g[k] = mean[k] + variance[k].sqrt() * e;
                    }
                    let top = g.iter().copied().fold(f64::MIN, f64::max);
                    let sum: f64 = g.iter().map(|g| (g - top).exp()).sum();
                    value += g[class] - top - sum.ln();
                    for k in 0..c {
                        let p = (g[k] - top).exp() / sum;
                        pm[k] += p;
                        pv[k] += p * (1.0 - p);
                    }
                }
                for k in 0..c {
                    slopes.mean[k] = f64::from(k == class) - pm[k] / n as f64;
                    slopes.variance[k] = -0.5 * pv[k] / n as f64;
                }
                value / n as f64
            }
            mode => {
                let mut a = vec![0.0; c];
                let mut t = vec![0.0; c];
                let exponent = |k: usize, a: f64| mean[k] + 0.5 * (1.0 - 2.0 * a) * variance[k];
                let eval = |a: &[f64], t: &mut [f64]| {
                    let top = (0..c).map(|k| exponent(k, a[k])).fold(f64::MIN, f64::max);
                    let mut sum = 0.0;
                    let mut quad = 0.0;
                    for k in 0..c {
                        t[k] = (exponent(k, a[k]) - top).exp();
                        sum += t[k];
                        quad += 0.5 * a[k] * a[k] * variance[k];
                    }
                    t.iter_mut().for_each(|t| *t /= sum);
                    quad + top + sum.ln()
                };
                let mut f;
                if mode == "jensen" {
                    f = eval(&a, &mut t);
                } else {
                    // start: softmax(m)
                    let top = mean.iter().copied().fold(f64::MIN, f64::max);
                    let sum: f64 = mean.iter().map(|m| (m - top).exp()).sum();
                    for k in 0..c {
                        a[k] = (mean[k] - top).exp() / sum;
                    }
                    f = eval(&a, &mut t);
                    let mut next = vec![0.0; c];
                    for _ in 0..50 {
                        let gap = (0..c).map(|k| (a[k] - t[k]).abs()).fold(0.0, f64::max);
                        if gap < 1e-13 {
                            break;
                        }
                        let (mut wr, mut wu) = (0.0, 0.0);
                        for k in 0..c {
                            let d = 1.0 + t[k] * variance[k];
                            wr += t[k] * variance[k] * (t[k] - a[k]) / d;
                            wu += t[k] * variance[k] * t[k] / d;
                        }
                        let factor = wr / (1.0 - wu);
                        let mut step = 1.0;
                        loop {
                            for k in 0..c {
                                let d = 1.0 + t[k] * variance[k];
                                next[k] = a[k] + step * ((t[k] - a[k]) + t[k] * factor) / d;
                            }
                            let mut tn = vec![0.0; c];
                            let fnext = eval(&next, &mut tn);
                            if fnext <= f + 1e-12 || step < 1e-3 {
                                f = fnext;
                                t = tn;
                                a.copy_from_slice(&next);
                                break;
                            }
                            step *= 0.5;
                        }
                    }
                }
                for k in 0..c {
                    slopes.mean[k] = f64::from(k == class) - t[k];
                    slopes.variance[k] = -0.5 * a[k] * a[k] - 0.5 * (1.0 - 2.0 * a[k]) * t[k];
                }
                mean[class] - f
            }
        }
    }

    fn probabilities(&self, at: Latent<'_>, out: &mut [f64]) {
        let Latent { mean, variance } = at;
        let c = mean.len();
        if std::env::var_os("SM_DUMP").is_some() {
            eprintln!("DUMP {mean:?} {variance:?}");
        }
        if MODE.as_str() == "robust" {
            for class in 0..c {
                let spread = (2.0 * variance[class]).sqrt();
                let mut p = 0.0;
                for &(node, weight) in GAUSS_HERMITE.iter() {
                    let g = mean[class] + spread * node;
                    let others = (0..c).filter(|&k| k != class);
                    p += weight * others.map(|k| phi((g - mean[k]) / variance[k].sqrt())).product::<f64>();
                }
                out[class] = (1.0 - EPS) * p + EPS / (c - 1) as f64 * (1.0 - p);
            }
        } else if PRED.as_str() == "d2" || PRED.as_str() == "q5" {
            let l = std::f64::consts::PI / 8.0;
            for i in 0..c {
                let others = || (0..c).filter(|&k| k != i);
                let h = |k: usize| mean[k] / (1.0 + l * variance[k]).sqrt();
                let t = others().map(h).fold(f64::MIN, f64::max);
                let s: f64 = others().map(|k| (h(k) - t).exp()).sum();
                let t0 = others().map(|k| mean[k]).fold(f64::MIN, f64::max);
                let mut mu = t0 + others().map(|k| (mean[k] - t0).exp()).sum::<f64>().ln();
                let mut sv = 0.0;
                for k in others() {
                    let q = (h(k) - t).exp() / s;
                    mu += 0.5 * q * (1.0 - q) * variance[k] / (1.0 + l * variance[k]).sqrt();
                    sv += q * q * variance[k];
                }
                if PRED.as_str() == "q5" {
                    let w = (variance[i] + sv).sqrt();
                    out[i] = [
                        (0.0, 0.5333333333333333),
                        (1.3556261799742659, 0.2220759220056126),
                        (-1.3556261799742659, 0.2220759220056126),
                        (2.8569700138728056, 0.011257411327720691),
                        (-2.8569700138728056, 0.011257411327720691),
                    ]
                    .iter()
                    .map(|(x, p)| p / (1.0 + (mu - mean[i] - w * x).exp()))
                    .sum();
                    continue;
                }
                out[i] = 1.0 / (1.0 + (-(mean[i] - mu) / (1.0 + l * (variance[i] + sv)).sqrt()).exp());
            }
        } else if PRED.as_str() == "exact" {
            out.fill(0.0);
            let mut g = vec![0.0; c];
            for s in 0..512u32 {
                let mut words = [0u32; 4];
                let mut e = vec![0.0; c];
                for k in 0..c {
                    if k % 2 == 0 {
                        words = crate::philox::philox([5, s, k as u32, 78 << 24], [9, 9]);
                    }
                    let u = (f64::from(words[(k % 2) * 2]) + 1.0) / 4294967297.0;
                    let a = f64::from(words[(k % 2) * 2 + 1]) / 4294967296.0;
                    e[k] = (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * a).cos();
                }
                for sign in [-1.0, 1.0] {
                    for k in 0..c {
                        g[k] = mean[k] + sign * variance[k].sqrt() * e[k];
                    }
                    let top = g.iter().copied().fold(f64::MIN, f64::max);
                    let sum: f64 = g.iter().map(|g| (g - top).exp()).sum();
                    for k in 0..c {
                        out[k] += (g[k] - top).exp() / sum;
                    }
                }
            }
        } else if PRED.as_str() == "mackay" {
            let l = std::f64::consts::PI / 8.0;
            let g: Vec<f64> = (0..c).map(|k| mean[k] / (1.0 + l * variance[k]).sqrt()).collect();
            let top = g.iter().copied().fold(f64::MIN, f64::max);
            (0..c).for_each(|k| out[k] = (g[k] - top).exp());
        } else {
            for class in 0..c {
                // 1 / Σ_k exp(−(m_c − m_k)/√(1 + π/8 (v_c + v_k)))
                let mut sum = 1.0;
                for k in (0..c).filter(|&k| k != class) {
                    let scale = (1.0 + std::f64::consts::PI / 8.0 * (variance[class] + variance[k])).sqrt();
                    sum += ((mean[k] - mean[class]) / scale).exp();
                }
                out[class] = 1.0 / sum;
            }
        }
        let sum: f64 = out.iter().sum();
        out.iter_mut().for_each(|p| *p /= sum);
    }
}
