//! What the figures must not exceed, whatever the compiler.

use super::figures::{Figures, Minimal, Raw};
use anyhow::{Result, ensure};

/// Names every bar that is missed.
pub(crate) fn check(boards: &[Figures]) -> Result<()> {
    let mut missed = Vec::new();
    for figures in boards {
        for pair in &figures.integers {
            let least = least_gain(&figures.board, &pair.model);
            for (way, gain) in ["along the drift", "of a sampled path"].into_iter().zip(pair.gains()) {
                if gain < least {
                    missed.push(format!(
                        "{}: {} in integers takes {gain:.2} times fewer instructions {way}, not {least}",
                        figures.board, pair.model
                    ));
                }
            }
        }
        if figures.board == "m0" {
            missed.extend(missed_by_raw(figures.raw.as_ref()).iter().map(|missed| format!("m0: {missed}")));
        }
        let mut at_most = |what: &str, found: f64, bar: f64| {
            if found > bar {
                missed.push(format!("{}: {what} is {found}, more than {bar}", figures.board));
            }
        };
        // The README states it, for every board.
        at_most("stack of parse and predict", f64::from(figures.stack_bytes), 1.2 * 1024.0);
        match figures.board.as_str() {
            "m4f" => {
                at_most("instructions per weighted RBF sum (M=100, D=8)", figures.instructions_rbf_sum as f64, 7_000.0);
                at_most("instructions per multiply-add", figures.instructions_per_mac, 2.45);
                at_most("flash of the minimal image", f64::from(figures.flash_bytes), 12.0 * 1024.0);
                at_most("stack of parse and predict", f64::from(figures.stack_bytes), 1024.0);
                // Not measured is not below the bar.
                let minimal = |figure: fn(&Minimal) -> f64| figures.minimal.as_ref().map_or(f64::INFINITY, figure);
                at_most("RBF sum in the minimal image", minimal(|m| m.instructions_rbf_sum as f64), 7_000.0);
                at_most("multiply-add in the minimal image", minimal(|m| m.instructions_per_mac), 2.45);
                at_most("stack of the minimal image", minimal(|m| f64::from(m.stack_bytes)), 1024.0);
                at_most("workspace for M=100, D=8", f64::from(figures.workspace_bytes), 640.0);
            }
            "m0" => {
                let prediction = figures.instructions_small_prediction as f64;
                at_most("instructions per drift prediction (D=4, M=50)", prediction, 16e6);
            }
            _ => {}
        }
    }
    ensure!(missed.is_empty(), "bars missed:\n  {}", missed.join("\n  "));
    Ok(())
}

/// The bars of the image that computes with integers alone. Not measured is not below a bar.
pub(crate) fn missed_by_raw(raw: Option<&Raw>) -> Vec<String> {
    let figure = |of: fn(&Raw) -> u32| raw.map_or(u32::MAX, of);
    let bars = [("flash", figure(|raw| raw.flash_bytes), 12 << 10), ("stack", figure(|raw| raw.stack_bytes), 1 << 10)];
    let missed = bars.into_iter().filter(|(_, found, bar)| found > bar);
    missed.map(|(what, found, bar)| format!("{what} of the image of integers is {found}, more than {bar}")).collect()
}

/// How many times fewer instructions integers have to take than f32; 0 where nothing is asked.
fn least_gain(board: &str, model: &str) -> f64 {
    match (board, model) {
        ("m0" | "m3", "v2-power" | "v2-kin8nm-32k") => 25.0,
        ("rv32" | "rv32imc", "v2-power" | "v2-kin8nm-32k") => 20.0,
        ("m4f", "v2-kin8nm-32k") => 1.0,
        _ => 0.0,
    }
}
