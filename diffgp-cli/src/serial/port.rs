//! `--port`, `--baud`, `--timeout` and `--retries`: where the device is, and how patient to be with it.

use std::net::{TcpStream, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use serial2::SerialPort;

use super::Questions;
use super::line::{Line, QUIET};
use crate::failure::mistake;

const BAUD: u32 = 115_200;

/// The options of all commands that talk to a device.
#[derive(Debug, clap::Args)]
pub(crate) struct LineArgs {
    /// Serial device, or host and port of a TCP connection to one.
    #[arg(long, value_name = "PATH|tcp:HOST:PORT")]
    pub(crate) port: String,
    /// Speed of a serial device [default: 115200].
    #[arg(long, value_name = "BAUD", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) baud: Option<u32>,
    /// How long to wait for an answer, in seconds; a slow core takes its time.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    pub(crate) timeout: f64,
    /// How often to ask again when an answer was lost or damaged.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) retries: u32,
}

impl LineArgs {
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs_f64(self.timeout)
    }

    /// Where the device is.
    pub(crate) fn port(&self) -> anyhow::Result<Port> {
        Port::parse(&self.port, self.baud)
    }

    /// The line there, and questions over it.
    pub(crate) fn open(&self, port: &Port) -> anyhow::Result<Questions> {
        Ok(Questions::new(port.open(self.timeout())?, self.timeout(), self.retries))
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.001..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds, 0.001 to 86400".to_owned()),
    }
}

/// What `--port` names.
pub(crate) enum Port {
    /// A device file, or COM3 and the like.
    Serial { path: PathBuf, baud: u32 },
    /// HOST:PORT.
    Tcp { address: String },
}

impl Port {
    fn parse(port: &str, baud: Option<u32>) -> anyhow::Result<Self> {
        let Some(address) = port.strip_prefix("tcp:") else {
            return Ok(Self::Serial { path: port.into(), baud: baud.unwrap_or(BAUD) });
        };
        let (host, number) = address.rsplit_once(':').unwrap_or_default();
        if host.is_empty() || !number.parse::<u16>().is_ok_and(|number| number > 0) {
            return Err(mistake(format!("--port {port}: expected tcp:HOST:PORT, for example tcp:localhost:4444")));
        }
        if baud.is_some() {
            return Err(mistake(format!("--baud is for serial devices; --port {port} has no speed to set")));
        }
        Ok(Self::Tcp { address: address.to_owned() })
    }

    fn open(&self, timeout: Duration) -> anyhow::Result<Line> {
        match self {
            Self::Serial { path, baud } => {
                let shown = path.display();
                let mut serial = SerialPort::open(path, *baud).map_err(|error| {
                    mistake(format!(
                        "--port {shown}: cannot open it at {baud} baud ({error}); expected a serial device such as \
                         /dev/ttyACM0, or tcp:HOST:PORT"
                    ))
                })?;
                serial.set_read_timeout(QUIET)?;
                serial.set_write_timeout(timeout)?;
                // What an earlier user of the line has not read.
                serial.discard_buffers()?;
                Ok(Line::new(shown.to_string(), serial))
            }
            Self::Tcp { address } => {
                let stream = connect(address, timeout).map_err(|error| {
                    mistake(format!("--port tcp:{address}: {error}; expected a device or an emulator that listens"))
                })?;
                stream.set_read_timeout(Some(QUIET))?;
                stream.set_write_timeout(Some(timeout))?;
                stream.set_nodelay(true)?;
                Ok(Line::new(format!("tcp:{address}"), stream))
            }
        }
    }
}

/// To the first address that answers: a name often stands for an IPv6 and an IPv4 address.
fn connect(address: &str, timeout: Duration) -> std::io::Result<TcpStream> {
    let mut refused = std::io::ErrorKind::AddrNotAvailable.into();
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
