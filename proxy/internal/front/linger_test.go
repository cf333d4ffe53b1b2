package front_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/proxy"
)

// TestRefusedWhileSending: a rejected client reads the reason and then the end of the connection,
// although not all of its body has been read.
func TestRefusedWhileSending(t *testing.T) {
	t.Parallel()
	s := proxytest.Start(t, proxytest.Setup{Change: func(o *proxy.Options) { o.MaxRequest = 2000 }})
	address := s.HTTP.Listener.Addr().String()
	cases := []struct {
		name, head string
		sent, said int // bytes of the body
		want       int
	}{
		{"too large", "", 100 << 10, 100 << 10, 413},
		{"larger than is read", "", 1 << 20, 1 << 20, 413},
		{"larger than was sent", "", 10 << 10, 1 << 30, 413},
		{"waits to be asked", "Expect: 100-continue\r\n", 0, 1 << 20, 413},
		{"of no use", "Content-Encoding: gzip\r\n", 100 << 10, 100 << 10, 415},
		{"of a stranger", "Origin: https://evil.example\r\n", 100 << 10, 100 << 10, 403},
	}
	for _, c := range cases {
		for _, connection := range []string{"close", "keep-alive"} {
			t.Run(c.name+", "+connection, func(t *testing.T) {
				t.Parallel()
				conn, err := net.Dial("tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				_ = conn.SetDeadline(time.Now().Add(proxytest.Patience))
				_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: %s\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s",
					address, proxytest.Token, connection, c.head, c.said, strings.Repeat(" ", c.sent))
				r := bufio.NewReader(conn)
				response, err := http.ReadResponse(r, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != c.want {
					t.Errorf("status %d, want %d; %v", response.StatusCode, c.want, err)
				}
				if response.Close {
					if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
						t.Errorf("the connection ended with %q, %v", rest, err)
					}
				}
			})
		}
	}
}
