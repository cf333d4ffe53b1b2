package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/policy"
)

// logLines is a log whose lines a test can wait for.
type logLines chan string

func (s logLines) Write(line []byte) (int, error) {
	s <- string(line)
	return len(line), nil
}

func (s logLines) await(t *testing.T, part string) {
	t.Helper()
	for line := range s {
		if strings.Contains(line, part) {
			return
		}
	}
}

// hooked returns a daemon with a webhook that receives answers at the given address.
func hooked(t *testing.T, address, more string) (*Daemon, logLines) {
	t.Helper()
	src := fmt.Sprintf(`{"mcpServers": {}, "approval": {"channels": ["webhook"], "webhook": {"url": "http://127.0.0.1:1", "secret": "${HOOK}", "listen": %q}}%s}`, address, more)
	c, err := config.Parse(filepath.Join(t.TempDir(), "petrigate.yaml"), []byte(src), config.Options{
		Env: func(name string) (string, bool) { return strings.Repeat(name, 10), name == "HOOK" },
	})
	if err != nil {
		t.Fatal(config.Text(err))
	}
	if c.State.Driver == "sqlite" {
		c.State.Path = filepath.Join(t.TempDir(), "state", "state.db")
	}
	r, err := policy.Build(policy.FromConfig(c))
	if err != nil {
		t.Fatal(err)
	}
	log := make(logLines, 100)
	d, err := New(Options{Config: c, Policy: r, Log: slog.NewTextHandler(log, nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, log
}

// TestSharedAddress checks that proxies with the same configuration share the address for answers:
// one listens, and when it has ended, another one takes over. A proxy whose states are not shared
// must fail to start instead.
func TestSharedAddress(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close() }()
	at := other.Addr().String()
	alone, _ := hooked(t, at, `, "state": {"driver": "memory"}`)
	if _, err := alone.channels.start(); err == nil || !strings.Contains(err.Error(), "another program has this port") {
		t.Errorf("%v", err)
	}
	d, log := hooked(t, at, "")
	stop, err := d.channels.start()
	if err != nil {
		t.Fatal(err)
	}
	log.await(t, "another process uses the address for the webhook's answers: it also accepts this process's answers if it is a petrigate with the same configuration")
	if status := d.Status().Webhook; status == nil || status.Answers != "http://"+at+"/answer" {
		t.Errorf("%+v", status)
	}
	stop()
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { d.channels[0].(*webhookChannel).takeAnswers(ctx, nil, 1) })
	_ = other.Close()
	log.await(t, "accepting answers for the webhook")
	response, err := http.Post("http://"+at+"/answer", "application/json", strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Error(response.Status)
	}
	cancel()
	work.Wait()
}
