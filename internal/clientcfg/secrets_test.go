package clientcfg

import (
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/clientcfg/splice"
)

func ExampleSecrets() {
	fmt.Println(Secrets(map[string]any{"args": []any{"--api-key", "abc123"}, "env": map[string]any{"PORT": "8080"}}))
	// Output: [{--api-key abc123}]
}

// TestSecrets checks values that are secrets, in all positions, and values that only look like
// secrets.
func TestSecrets(t *testing.T) {
	for src, want := range map[string]string{
		`{"apiKey": "k-123456"}`:                                                                    "k-123456",
		`{"a": {"b": [{"password": "p-123456"}]}}`:                                                  "p-123456",
		`{"args": ["--token", "t-123456", "--verbose", "on and on"]}`:                               "t-123456",
		`{"args": ["--token", "--other"]}`:                                                          "",
		`{"args": ["--token=t-123456", "API_KEY=k-123456"]}`:                                        "t-123456 k-123456",
		`{"args": ["Authorization: Bearer t-123456"]}`:                                              "t-123456",
		`{"args": ["Authorization: Bearer ${TOKEN}"]}`:                                              "",
		`{"args": ["postgresql://bob:hunter2@localhost/db"]}`:                                       "hunter2",
		`{"args": ["host=x password=hunter2 user=bob"]}`:                                            "hunter2",
		`{"args": ["ghp_0123456789abcdef", "sk-not"]}`:                                              "ghp_0123456789abcdef",
		`{"args": ["http://localhost:8080/x@y"]}`:                                                   "",
		`{"url": "https://x/mcp?api_key=k-123456&page=2"}`:                                          "k-123456",
		`{"env": {"PORT": "8080", "NAME": "l0ng-en0ugh", "TOKEN": "t-12"}}`:                         "l0ng-en0ugh t-12",
		`{"args": ["--pass", "hunter2", "--bearer", "b-1234", "--pwd=p-123", "--db-pwd", "q-123"]}`: "hunter2 b-1234 p-123 q-123",
		`{"args": ["-p", "hunter2", "-u", "me:pw-123", "--user", "1000:1000", "-p", "8080:80", "-p", "@scope/pkg", "-p", "./x"]}`:                                                                                     "hunter2 pw-123",
		`{"url": "https://x.example/a?sv=1&sig=abc%2Fdef"}`:                                                                                                                                                           "abc%2Fdef",
		`{"args": ["https://ghtoken123@git.example/x", "ssh://git@git.example/x", "https://hooks.slack.com/services/T0/B0/abcdef"]}`:                                                                                  "ghtoken123 T0/B0/abcdef",
		`{"env": {"HOOK": "https://discord.com/api/webhooks/12/abcdef"}}`:                                                                                                                                             "12/abcdef",
		`{"env": {"ROOT": "/home/ann/my project", "ORIGIN": "https://x.example/mcp", "MODE": "production-like", "TOKEN_FILE": "/run/token", "PWD": "/home/ann", "AT": "127.0.0.1:8080", "BYPASS": "nothing at all"}}`: "",
		`{"env": {"ROOT": "/x/0123456789abcdefghij", "AT": "https://x.example/a?b=c"}}`:                                                                                                                               "https://x.example/a?b=c /x/0123456789abcdefghij",
		`{"env": {"TOKEN": "${TOKEN}", "PIN_KEY": 12345, "KEY": true}}`:                                                                                                                                               "12345",
		`{"env": {"TOKEN": "abc"}}`:                                                "",
		`{"headers": {"X": "Bearer {env:TOKEN}", "Y": "x-${TOKEN}-y"}}`:            "",
		`{"args": ["--url=https://h/?sig=s-123456", "--url=https://h/x?a=1&b=2"]}`: "s-123456",
		`{"args": ["-pS3cret", "-p8080:80", "-path", "-project=x", "-p=x"]}`:       "S3cret",
		`{"bearer_token_env_var": "MY_TOKEN"}`:                                     "",
	} {
		d, err := splice.Parse("x", []byte(src), splice.JSON)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range Secrets(d.Tree()) {
			got = append(got, s.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
