//go:build unix

package daemon

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// TestNotifyReady sends the notification to a socket like that of systemd, to a socket that no
// longer exists, and without a socket.
func TestNotifyReady(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	t.Setenv("NOTIFY_SOCKET", path)
	if err := notifyReady(); err != nil {
		t.Error(err)
	}
	var b [64]byte
	if n, err := c.Read(b[:]); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("%q, %v", b[:n], err)
	}
	for _, tt := range []struct{ socket, want string }{
		{path + "-gone", "notifying systemd at NOTIFY_SOCKET: dial unixgram"},
		{"", ""},
	} {
		t.Setenv("NOTIFY_SOCKET", tt.socket)
		err := notifyReady()
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.socket, err, tt.want)
		}
	}
}
