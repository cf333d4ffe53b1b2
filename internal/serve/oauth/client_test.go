package oauth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestCheckAddress checks which addresses an internal and a public server may direct petrigate to.
func TestCheckAddress(t *testing.T) {
	for _, test := range []struct {
		address         string
		within, outside bool
	}{
		{"93.184.216.34:443", true, true},
		{"10.0.0.1:443", true, false},
		{"127.0.0.1:443", true, false},
		{"[fd00::1]:443", true, false},
		{"100.64.0.1:443", true, false},
		{"169.254.169.254:80", false, false},
		{"[::ffff:169.254.169.254]:80", false, false},
		{"[64:ff9b::a9fe:a9fe]:80", false, false},
		{"[fe80::1%lo]:80", false, false},
		{"[fd00:ec2::254]:80", false, false},
		{"100.100.100.200:80", false, false},
		{"192.0.0.192:80", false, false},
		{"0.0.0.0:80", false, false},
		{"name:80", false, false},
	} {
		for within, want := range map[bool]bool{true: test.within, false: test.outside} {
			if err := checkAddress(test.address, within); (err == nil) != want {
				t.Errorf("%s, with a server inside %t: %v", test.address, within, err)
			}
		}
	}
}

// TestDialerRefusesInternalAddresses checks that a server on this machine may direct petrigate to
// another server here, but a public server must not.
func TestDialerRefusesInternalAddresses(t *testing.T) {
	reached := 0
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		if r.URL.Path == "/moved" {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		}
		_, _ = io.WriteString(w, "here")
	}))
	defer here.Close()
	for _, test := range []struct {
		name   string
		server Server
		url    string
		want   string // expected error
	}{
		{"from this machine", Server{URL: "http://127.0.0.1:1/mcp"}, here.URL, ""},
		{"from outside", Server{URL: "https://192.0.2.1/mcp"}, here.URL, "refers to the private address 127.0.0.1"},
		{"from outside, by a name", Server{URL: "https://192.0.2.1/mcp"}, strings.Replace(here.URL, "127.0.0.1", "localhost", 1), "refers to the private address"},
		{"from outside, as the user wants", Server{URL: "https://192.0.2.1/mcp", Issuer: here.URL}, here.URL, ""},
		{"in the clear", Server{URL: "https://192.0.2.1/mcp"}, "http://192.0.2.2/", "does not begin with https://"},
		{"redirect", Server{URL: "http://127.0.0.1:1/mcp"}, here.URL + "/moved", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			reached = 0
			client := newClient(test.server)
			response, err := client.Get(test.url)
			if err == nil {
				_ = response.Body.Close()
			}
			switch {
			case test.want == "" && (err != nil || reached != 1):
				t.Errorf("reached %d times, %v", reached, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || reached != 0):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestReadChallenge(t *testing.T) {
	for _, test := range []struct {
		lines []string
		want  string
	}{
		{[]string{`Bearer resource_metadata="https://a.example/x", scope="a b", error="insufficient_scope"`}, "https://a.example/x|a,b|insufficient_scope"},
		{[]string{`bearer RESOURCE_METADATA="https://a.example/x"`}, "https://a.example/x||"},
		{[]string{`Negotiate abc==`, `Bearer scope="a"`}, "|a|"},
		{[]string{`Basic realm="x", Bearer scope="a"`}, "|a|"},
		{[]string{`DPoP scope="a"`}, "||"},
		{[]string{`Bearer scope="a \"; b"`}, "|a,b|"},
		{[]string{`Bearer "`, "", "Bearer"}, "||"},
		{nil, "||"},
	} {
		c := readChallenge(http.Header{"Www-Authenticate": test.lines})
		if got := c.metadata + "|" + strings.Join(c.scopes, ",") + "|" + c.code; got != test.want {
			t.Errorf("%q: got %s, want %s", test.lines, got, test.want)
		}
	}
}
