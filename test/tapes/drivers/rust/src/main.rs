//! Rust loggers with rotation: main flexi-numbers | flexi-timestamps | log4rs | tracing

use std::io::Write;
use std::{env, thread, time::Duration};

use flexi_logger::{Cleanup, Criterion, DeferredNow, FileSpec, Logger, Naming};
use log::{info, LevelFilter, Record};

/// Returns line `n` as JSON. The recorder gives the tape's name in NAME.
fn line(n: u64) -> String {
    let name = env::var("NAME").expect("NAME is set");
    format!(
        r#"{{"id":"{name}-{n}","timestamp":"2026-11-20T10:{:02}:{:02}.000Z","project":"p"}}"#,
        n / 60,
        n % 60
    )
}

/// Writes lines with short pauses, and one of `rest` ms after every sixth.
fn write_lines(count: u64, rest: u64, mut write: impl FnMut(String)) {
    for n in 0..count {
        write(line(n));
        thread::sleep(Duration::from_millis(if n % 6 == 5 { rest } else { 15 }));
    }
}

fn plain(w: &mut dyn Write, _now: &mut DeferredNow, record: &Record) -> std::io::Result<()> {
    write!(w, "{}", record.args())
}

fn flexi(naming: Naming, rest: u64) {
    let handle = Logger::try_with_str("info")
        .unwrap()
        .log_to_file(FileSpec::default().basename("app"))
        .format(plain)
        .rotate(Criterion::Size(600), naming, Cleanup::KeepLogAndCompressedFiles(1, 2))
        .start()
        .unwrap();
    write_lines(42, rest, |line| info!("{line}"));
    handle.shutdown();
}

fn log4rs() {
    use log4rs::append::rolling_file::policy::compound::{
        roll::fixed_window::FixedWindowRoller, trigger::size::SizeTrigger, CompoundPolicy,
    };
    use log4rs::append::rolling_file::RollingFileAppender;
    use log4rs::config::{Appender, Config, Root};
    use log4rs::encode::pattern::PatternEncoder;

    let roller = FixedWindowRoller::builder().build("app.{}.log.gz", 3).unwrap();
    let policy = CompoundPolicy::new(Box::new(SizeTrigger::new(600)), Box::new(roller));
    let appender = RollingFileAppender::builder()
        .encoder(Box::new(PatternEncoder::new("{m}{n}")))
        .build("app.log", Box::new(policy))
        .unwrap();
    let config = Config::builder()
        .appender(Appender::builder().build("file", Box::new(appender)))
        .build(Root::builder().appender("file").build(LevelFilter::Info))
        .unwrap();
    log4rs::init_config(config).unwrap();
    write_lines(42, 350, |line| info!("{line}"));
}

/// Rotates by the minute; the recording runs it with a clock that is 60 times as fast.
fn tracing() {
    let mut appender = tracing_appender::rolling::RollingFileAppender::builder()
        .rotation(tracing_appender::rolling::Rotation::MINUTELY)
        .filename_prefix("app.log")
        .max_log_files(3)
        .build(".")
        .unwrap();
    write_lines(36, 1100 * 60, |line| writeln!(appender, "{line}").unwrap());
}

fn main() {
    match env::args().nth(1).as_deref() {
        Some("flexi-numbers") => flexi(Naming::Numbers, 350),
        Some("flexi-timestamps") => flexi(Naming::Timestamps, 1100),
        Some("log4rs") => log4rs(),
        Some("tracing") => tracing(),
        other => panic!("unknown program {other:?}"),
    }
}
