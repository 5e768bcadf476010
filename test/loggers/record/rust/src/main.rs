//! Logs the same entries with one logger: loggers <logger> [<setting>]
use slog::Drain;

const SPECIAL: &str = "Jörg said \"hi\"\tto 🎉";

fn declined() -> std::io::Error {
    std::io::Error::other("card declined")
}

fn with_log() {
    log::trace!("cache asked");
    log::debug!("cache miss");
    log::info!(order = "A-1001", amount = 42.5; "order {} paid", "A-1001");
    log::warn!("disk is {}% full", 91);
    log::error!("charge failed: {}", declined());
    log::info!("two\nlines");
    log::info!("{SPECIAL}");
}

fn with_tracing() {
    tracing::trace!("cache asked");
    tracing::debug!("cache miss");
    let span = tracing::info_span!("checkout", order = "A-1001");
    let _guard = span.enter();
    tracing::info!(amount = 42.5, user = "jo", "order paid");
    tracing::warn!(used = 91, "disk almost full");
    tracing::error!(error = %declined(), kind = ?declined().kind(), "charge failed");
    tracing::info!(order = "A-1001");
    drop(_guard);
    tracing::info!("{SPECIAL}");
}

fn with_slog(logger: slog::Logger) {
    slog::trace!(logger, "cache asked");
    slog::debug!(logger, "cache miss");
    slog::info!(logger, "order paid"; "order" => "A-1001", "amount" => 42.5);
    slog::warn!(logger, "disk almost full"; "used" => 91);
    slog::error!(logger, "charge failed"; "error" => %declined());
    slog::crit!(logger, "out of memory");
    slog::info!(logger, "{}", SPECIAL);
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["tracing", "fmt"] => {
            tracing_subscriber::fmt::init();
            with_tracing();
        }
        ["tracing", "plain"] => {
            tracing_subscriber::fmt().with_ansi(false).with_max_level(tracing::Level::TRACE).init();
            with_tracing();
        }
        ["tracing", "compact"] => {
            tracing_subscriber::fmt().compact().with_ansi(false).init();
            with_tracing();
        }
        ["tracing", "pretty"] => {
            tracing_subscriber::fmt().pretty().with_ansi(false).init();
            with_tracing();
        }
        ["tracing", "json"] => {
            tracing_subscriber::fmt().json().init();
            with_tracing();
        }
        ["tracing", "flat"] => {
            tracing_subscriber::fmt().json().flatten_event(true).init();
            with_tracing();
        }
        ["env_logger"] => {
            env_logger::init();
            with_log();
        }
        ["slog", "term"] => {
            let decorator = slog_term::PlainSyncDecorator::new(std::io::stdout());
            with_slog(slog::Logger::root(slog_term::FullFormat::new(decorator).build().fuse(), slog::o!("version" => "1")));
        }
        ["slog", "json"] => {
            let drain = std::sync::Mutex::new(slog_json::Json::default(std::io::stdout())).map(slog::Fuse);
            with_slog(slog::Logger::root(drain, slog::o!("version" => "1")));
        }
        ["log4rs", setting] => {
            use log4rs::append::console::ConsoleAppender;
            use log4rs::encode::{json::JsonEncoder, pattern::PatternEncoder, Encode};
            let encoder: Box<dyn Encode> =
                if setting == "json" { Box::new(JsonEncoder::new()) } else { Box::new(PatternEncoder::default()) };
            let appender = log4rs::config::Appender::builder()
                .build("out", Box::new(ConsoleAppender::builder().encoder(encoder).build()));
            let root = log4rs::config::Root::builder().appender("out").build(log::LevelFilter::Trace);
            log4rs::init_config(log4rs::Config::builder().appender(appender).build(root).unwrap()).unwrap();
            with_log();
        }
        ["panic"] => {
            let charged: Result<(), std::io::Error> = Err(declined());
            charged.unwrap();
        }
        _ => panic!("no such logger"),
    }
}
