//! A data set with fewer inputs.

use super::Dataset;

impl Dataset {
    /// The same rows without some inputs (their places, ascending), of which one at least must stay.
    pub fn without_inputs(&self, dropped: &[usize]) -> Self {
        let kept: Vec<usize> = (0..self.inputs).filter(|input| !dropped.contains(input)).collect();
        let x = (0..self.rows()).flat_map(|row| kept.iter().map(move |&input| self.input_row(row)[input])).collect();
        Self {
            x,
            y: self.y.clone(),
            inputs: kept.len(),
            outputs: self.outputs,
            names: self.names.as_ref().map(|names| kept.iter().map(|&input| names[input].clone()).collect()),
            target_names: self.target_names.clone(),
            classes: self.classes.clone(),
            groups: self.groups.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_leave_with_their_names() {
        let x: Vec<f64> = (0..6).map(f64::from).collect();
        let data = Dataset::from_named_rows(&x, &[7.0, 8.0], &["a", "b", "c"], &["y"]).unwrap();
        let expected = Dataset::from_named_rows(&[1.0, 4.0], &[7.0, 8.0], &["b"], &["y"]).unwrap();
        assert_eq!(data.without_inputs(&[0, 2]), expected);
        assert_eq!(data.without_inputs(&[]), data);
    }
}
