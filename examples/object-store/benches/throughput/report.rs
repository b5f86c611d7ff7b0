//! The table of a case.

use super::client::Round;

/// A subject with its rounds.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) rounds: Vec<Round>,
}

/// Prints the medians of all subjects, and the ratios of their rates and times to those of the subjects at `peers`.
pub(crate) fn print(title: &str, rows: &[Row], peers: &[usize], len: usize) {
    println!("\n{title}");
    let mut head = format!(
        "{:<20} {:>9} {:>8} {:>10}",
        "", "requests/s", "MB/s", "CPU us"
    );
    for peer in peers {
        let name = &rows[*peer].name;
        head += &format!(" {:>15} {:>14}", format!("rate/{name}"), "range");
        head += &format!(" {:>14}", format!("CPU/{name}"));
    }
    println!("{head}");
    for row in rows {
        let rates = row.rounds.iter().map(rate);
        let rate_of_row = median(rates);
        let cpu_of_row = median(row.rounds.iter().map(cpu));
        let bytes = rate_of_row * len as f64 / 1e6;
        let mut line = format!("{:<20} {rate_of_row:>9.1} {bytes:>8.1}", row.name);
        line += &format!(" {:>10.1}", cpu_of_row * 1e6);
        for peer in peers {
            let pairs = || row.rounds.iter().zip(&rows[*peer].rounds);
            let mut ratios: Vec<f64> = pairs().map(|(own, peer)| rate(own) / rate(peer)).collect();
            ratios.sort_by(f64::total_cmp);
            let range = format!("{:.2} to {:.2}", ratios[0], ratios[ratios.len() - 1]);
            let cpu_ratio = median(pairs().map(|(own, peer)| cpu(own) / cpu(peer)));
            let middle = median(ratios.into_iter());
            line += &format!(" {middle:>15.2} {range:>14} {cpu_ratio:>14.2}");
        }
        println!("{line}");
    }
}

fn rate(round: &Round) -> f64 {
    round.requests as f64 / round.elapsed.as_secs_f64()
}

/// The time of the processor for one request, in seconds.
fn cpu(round: &Round) -> f64 {
    round.cpu / round.requests as f64
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        _ if values.is_empty() => f64::NAN,
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}
