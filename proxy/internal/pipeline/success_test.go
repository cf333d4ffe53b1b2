package pipeline_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/internal/proxytest"
	"github.com/petrigate/petrigate/internal/testserver"
)

// TestConditionsOnResults: if a rule defines the success of a shell server, a script that failed,
// or that still runs, does not count as evidence, although its result is not an error.
func TestConditionsOnResults(t *testing.T) {
	content := func(text, more string) string {
		return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]%s}`, text, more)
	}
	for _, c := range []struct {
		condition, result string
		evidence          bool
	}{
		{"result.exitCode == 0", content("ok", `,"structuredContent":{"exitCode":0}`), true},
		{"result.exitCode == 0", content("1 test failed", `,"structuredContent":{"exitCode":3}`), false},
		{"result.exitCode == 0", content("ok", ""), false},
		{`text.contains("completed with exit code 0")`, content("ok\nProcess completed with exit code 0", ""), true},
		{`text.contains("completed with exit code 0")`, content("Process started with PID 7\nInitial output: ok", ""), false},
		{`text.contains("exit code 0")`, content("exit code 0", `,"isError":true`), false},
	} {
		proxytest.EachLeg(t, func(t *testing.T, l proxytest.Leg) {
			kind := ""
			if l.Modern {
				kind = `,"resultType":"complete"`
			}
			run := testserver.Tool{Name: "run", Verbatim: true, Run: func(context.Context, *testserver.Call) (json.RawMessage, error) {
				return json.RawMessage(strings.TrimSuffix(c.result, "}") + kind + "}"), nil
			}}
			s := proxytest.Start(t, proxytest.Setup{
				Rules:  fmt.Sprintf("require run before safe\nsuccess r* when %q\n", c.condition),
				Server: testserver.Options{Tools: append(testserver.Attack(), run)},
			})
			client := s.Connect(l, "")
			client.Do("run", `{}`)
			if r := client.Do("safe", `{}`); r.IsError() == c.evidence {
				t.Errorf("%s after %s: %s", c.condition, c.result, r.Raw)
			}
		})
	}
}
