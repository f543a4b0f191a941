//! A thread for each client.
//!
//! The messages of a client are answered on a thread of its own, as PostgreSQL answers them in a
//! process of its own. The system shares the processors among the threads. A client that waits
//! for the disk, or whose statement takes long, keeps none of the others.
//!
//! A connection is one future, so that it can wait for several things at once: for a message, for
//! the end of the server, for a limit of time. The thread polls that future until it is done.
//! Between polls it sleeps in `epoll_wait`, and two things end the sleep: bytes on the socket, and
//! the future's waker. Clocks and background tasks belong to the runtime that the server was
//! started in.
//!
//! # Left out
//! A limit of threads: places for clients and strangers are limited already.

use std::future::Future;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake};
use std::thread::Builder;

use mio::event::Event;
use mio::{Events, Interest, Token};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Handle;

/// Bytes of a thread's stack: as much as the first thread of a process has. Deep statements
/// take some of it.
const STACK: usize = 8 << 20;

/// The sources of events.
const SOCKET: Token = Token(0);
const WAKER: Token = Token(1);

/// Bits of [`Ready`]: bytes can be read, bytes can be written, the client sends no more.
const READ: u8 = 1;
const WRITE: u8 = 2;
const LAST: u8 = 4;

/// States of a thread: it polls; it has to poll again; it sleeps.
const AWAKE: u8 = 0;
const CALLED: u8 = 1;
const ASLEEP: u8 = 2;

/// Serves a client on a thread of its own. `serve` makes the future that is polled there, inside of
/// the runtime that this is called in.
///
/// # Errors
/// Of a system that has no more threads or descriptors to give.
pub(crate) fn spawn<F: Future<Output = ()>>(
    stream: TcpStream,
    serve: impl FnOnce(Socket) -> F + Send + 'static,
) -> io::Result<()> {
    let runtime = Handle::current();
    let poll = mio::Poll::new()?;
    let mut stream = mio::net::TcpStream::from_std(stream);
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut stream, SOCKET, both)?;
    let call = Arc::new(Call {
        state: AtomicU8::new(AWAKE),
        waker: mio::Waker::new(poll.registry(), WAKER)?,
    });
    let ready = Arc::new(Ready(AtomicU8::new(READ | WRITE)));
    let builder = Builder::new().name("client".to_owned()).stack_size(STACK);
    builder.spawn(move || {
        let _inside = runtime.enter();
        let socket = Socket {
            stream,
            ready: Arc::clone(&ready),
        };
        run(serve(socket), poll, &call, &ready);
    })?;
    Ok(())
}

/// Polls a future until it is done.
fn run(work: impl Future<Output = ()>, mut poll: mio::Poll, call: &Arc<Call>, ready: &Ready) {
    let waker = Arc::clone(call).into();
    let mut context = Context::from_waker(&waker);
    let mut work = pin!(work);
    let mut events = Events::with_capacity(2);
    while work.as_mut().poll(&mut context).is_pending() {
        let asleep =
            call.state
                .compare_exchange(AWAKE, ASLEEP, Ordering::AcqRel, Ordering::Acquire);
        if asleep.is_ok() {
            match poll.poll(&mut events, None) {
                Ok(()) => events.iter().for_each(|event| ready.note(event)),
                // A signal came; polling once more does no harm.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
        call.state.swap(AWAKE, Ordering::AcqRel);
    }
}

/// Calls a thread to poll again.
struct Call {
    state: AtomicU8,
    waker: mio::Waker,
}

impl Wake for Call {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.state.swap(CALLED, Ordering::AcqRel) == ASLEEP {
            // It fails only for a thread that is gone.
            let _ = self.waker.wake();
        }
    }
}

/// Things that a socket is known to be ready for. The system tells each change once.
struct Ready(AtomicU8);

impl Ready {
    fn note(&self, event: &Event) {
        if event.token() != SOCKET {
            return;
        }
        let (readable, writable) = (event.is_readable(), event.is_writable());
        let last = event.is_read_closed() || event.is_error();
        let bits = [(readable, READ), (writable, WRITE), (last, READ | LAST)];
        let bits = bits.iter().filter(|(is_so, _)| *is_so);
        self.0
            .fetch_or(bits.fold(0, |all, (_, bit)| all | bit), Ordering::Relaxed);
    }

    fn is(&self, bit: u8) -> bool {
        self.0.load(Ordering::Relaxed) & bit != 0
    }

    fn is_no_more(&self, bit: u8) {
        self.0.fetch_and(!bit, Ordering::Relaxed);
    }
}

/// The socket of a client. Only the future that its thread polls may wait for it.
pub(crate) struct Socket {
    stream: mio::net::TcpStream,
    ready: Arc<Ready>,
}

impl Socket {
    /// Tries something that it may not be ready for.
    fn attempt(
        &mut self,
        bit: u8,
        mut act: impl FnMut(&mut mio::net::TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        while self.ready.is(bit) {
            match act(&mut self.stream) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.ready.is_no_more(bit),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return Poll::Ready(done),
            }
        }
        Poll::Pending
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = into.initialize_unfilled();
        let most = room.len();
        let read = match self.attempt(READ, |stream| stream.read(room)) {
            Poll::Ready(read) => read?,
            Poll::Pending => return Poll::Pending,
        };
        into.advance(read);
        // All that had come was read; a client that sends no more is told of only once.
        if read < most && !self.ready.is(LAST) {
            self.ready.is_no_more(READ);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        from: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.attempt(WRITE, |stream| stream.write(from))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.stream.shutdown(Shutdown::Write))
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc;
    use std::time::Duration;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    /// A client's end of a connection, and the server's.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        client.set_read_timeout(Some(LONG)).unwrap();
        (client, server)
    }

    /// Sends back what comes, until nothing does.
    async fn echo(mut socket: Socket) {
        let mut bytes = Vec::with_capacity(1 << 10);
        while socket.read_buf(&mut bytes).await.unwrap() > 0 {
            socket.write_all(&bytes).await.unwrap();
            bytes.clear();
        }
        socket.shutdown().await.unwrap();
    }

    #[tokio::test]
    async fn bytes_come_back_however_they_are_cut() {
        for round in 0..200_usize {
            let (mut client, server) = pair();
            spawn(server, echo).unwrap();
            // Lengths about that of what is read at once, the end with the bytes or after them.
            let all: Vec<u8> = (0..1022 + round % 5).map(|at| (at * 7) as u8).collect();
            let (first, rest) = all.split_at(round * 5 % all.len());
            client.write_all(first).unwrap();
            if round % 3 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
            client.write_all(rest).unwrap();
            if round % 2 == 0 {
                std::thread::sleep(Duration::from_micros(300));
            }
            client.shutdown(Shutdown::Write).unwrap();
            let mut back = Vec::new();
            client.read_to_end(&mut back).unwrap();
            assert!(back == all, "round {round}: {} bytes", back.len());
        }
    }

    #[tokio::test]
    async fn a_client_that_reads_late_gets_all() {
        let (mut client, server) = pair();
        let all: Vec<u8> = (0..20 << 20).map(|at| (at >> 5) as u8).collect();
        let sent = all.clone();
        spawn(server, async move |mut socket: Socket| {
            socket.write_all(&sent).await.unwrap();
        })
        .unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let mut back = Vec::new();
        client.read_to_end(&mut back).unwrap();
        assert!(back == all, "{} bytes", back.len());
    }

    #[tokio::test]
    async fn calls_of_other_threads_and_bytes_are_both_heard() {
        let (mut client, server) = pair();
        let (calls, mut called) = tokio::sync::mpsc::unbounded_channel();
        let (heard, hears) = mpsc::channel();
        spawn(server, async move |mut socket: Socket| {
            let (mut bytes, mut numbers) = (0, 0);
            let mut room = [0; 16];
            while bytes + numbers < 40_000 {
                tokio::select! {
                    Some(_) = called.recv() => numbers += 1,
                    read = socket.read(&mut room) => bytes += read.unwrap(),
                }
            }
            heard.send((bytes, numbers)).unwrap();
        })
        .unwrap();
        let caller = std::thread::spawn(move || {
            for number in 0..20_000 {
                calls.send(number).unwrap();
                if number % 64 == 0 {
                    std::thread::sleep(Duration::from_micros(20));
                }
            }
            calls
        });
        for _ in 0..20_000 {
            client.write_all(b"x").unwrap();
        }
        assert_eq!(hears.recv_timeout(LONG), Ok((20_000, 20_000)));
        caller.join().unwrap();
    }

    #[test]
    fn clocks_are_those_of_the_runtime() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        let _inside = runtime.enter();
        let (mut client, server) = pair();
        spawn(server, async |mut socket: Socket| {
            let mut room = [0];
            let read = socket.read(&mut room);
            let read = tokio::time::timeout(Duration::from_millis(20), read).await;
            assert!(read.is_err());
            socket.write_all(b"late").await.unwrap();
        })
        .unwrap();
        let mut said = String::new();
        client.read_to_string(&mut said).unwrap();
        assert_eq!(said, "late");
    }
}
