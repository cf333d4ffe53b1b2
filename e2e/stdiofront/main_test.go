package stdiofront

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/testserver"
)

// childMark is an environment variable that turns the test binary into the server. Its value
// contains the flags.
const childMark = "STDIOFRONT_TEST_SERVER"

// TestMain runs the relay, the replay or the server if the test binary was started as one of these.
func TestMain(m *testing.M) {
	if flags, ok := os.LookupEnv(childMark); ok {
		os.Exit(testserver.Main(strings.Fields(flags), os.Stdin, os.Stdout))
	}
	if len(os.Args) > 1 && (os.Args[1] == "record" || os.Args[1] == "replay") {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, os.Args[1], os.Args[2:])
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// run returns 0, or 1 if there are differences, or 2 if that cannot be determined.
func run(ctx context.Context, verb string, args []string) int {
	differences, err := 0, error(nil)
	if verb == "record" {
		err = record(ctx, args)
	} else {
		differences, err = replay(args, os.Stdout)
	}
	switch {
	case err != nil:
		_, _ = fmt.Fprintln(os.Stderr, "stdiofront:", err)
		return 2
	case differences > 0:
		return 1
	}
	return 0
}

// record relays messages until ctx ends, and then writes the recording.
func record(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("record", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "address of the relay")
	to := flags.String("to", "", "URL of the server")
	into := flags.String("into", "", "file of the recording")
	if err := flags.Parse(args); err != nil {
		return err
	}
	r := newRelay(*to)
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", *listen)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	f, err := os.Create(*into)
	if err != nil {
		return err
	}
	return errors.Join(r.write(f), f.Close())
}

// replay replays recordings to two servers and returns the number of differences.
func replay(args []string, out io.Writer) (differences int, err error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	direct := flags.String("direct", "", "shell command of the server")
	through := flags.String("through", "", "shell command of petrigate in front of it")
	var except []string
	flags.Func("except", "do not compare the answers to messages that have this text in them (again and again)", func(text string) error {
		except = append(except, text)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return 0, err
	}
	for _, name := range flags.Args() {
		f, err := os.Open(name)
		if err != nil {
			return 0, err
		}
		conversations, err := readRecording(f)
		_ = f.Close()
		if err != nil {
			return 0, err
		}
		requests := 0
		for _, conversation := range conversations {
			n, found, err := both([]string{"sh", "-c", "exec " + *direct}, []string{"sh", "-c", "exec " + *through}, conversation, except)
			if err != nil {
				return 0, err
			}
			for _, d := range found {
				_, _ = fmt.Fprintln(out, d)
			}
			requests, differences = requests+n, differences+len(found)
		}
		_, _ = fmt.Fprintf(out, "%s: %d conversations, %d requests, %d differences\n", name, len(conversations), requests, differences)
	}
	return differences, nil
}

// tries limits how many times a recording is replayed to the server without petrigate. On a busy
// machine, the fixture sometimes drops a subscription, so that the replay misses messages.
const tries = 3

// both replays a conversation with both servers and compares the results.
func both(direct, through []string, conversation []entry, except []string) (requests int, differences []string, err error) {
	var want transcript
	for range tries {
		if want, err = play(direct, conversation); err != nil {
			return 0, nil, err
		}
		if len(want.missing) == 0 {
			break
		}
	}
	got, err := play(through, conversation)
	if err != nil {
		return 0, nil, err
	}
	return len(want.requests), compare(want, got, except), nil
}
