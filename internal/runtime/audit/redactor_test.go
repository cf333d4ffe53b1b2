package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/petrigate/petrigate/gate/reading"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

func redactor(t *testing.T, arguments string, mask ...string) *audit.Redactor {
	t.Helper()
	r, err := audit.NewRedactor(arguments, mask)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestArguments(t *testing.T) {
	const args = `{"to":"ann","Password":"hunter2","p\u0061sswd":7, "card":{"number":"4111","cvv":[1,2]},"rows":[{"pin":true},{"pin":null}],"empty":{},"none":[]}`
	for _, c := range []struct {
		mode string
		mask []string
		want string
	}{
		{"", nil, ""},
		{"hash", nil, ""},
		{"full", nil, args},
		{"full", []string{"TO"}, `{"to":"***","Password":"hunter2","passwd":7,"card":{"number":"4111","cvv":[1,2]},"rows":[{"pin":true},{"pin":null}],"empty":{},"none":[]}`},
		{"masked", []string{"$.card", "$.rows[*].pin", "none", "empty"}, `{"to":"ann","Password":"***","passwd":"*** number","card":"*** object","rows":[{"pin":"*** boolean"},{"pin":null}],"empty":"*** object","none":"*** list"}`},
		{"masked", []string{"$.card.*", "$.rows.pin"}, `{"to":"ann","Password":"***","passwd":"*** number","card":{"number":"***","cvv":"*** list"},"rows":[{"pin":"*** boolean"},{"pin":null}],"empty":{},"none":[]}`},
	} {
		got := redactor(t, c.mode, c.mask...).Arguments([]byte(args))
		if string(got) != c.want {
			t.Errorf("%s, %v:\n%s\nwant\n%s", c.mode, c.mask, got, c.want)
		}
		if len(got) > 0 && !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
	if got := redactor(t, "full").Arguments([]byte(`"` + strings.Repeat("x", 64<<10) + `"`)); got != nil {
		t.Error("a record has no bound")
	}
	if _, err := audit.NewRedactor("plain", nil); err == nil {
		t.Error("what is not known is to be refused")
	}
}

func TestShown(t *testing.T) {
	const args = `{"to":"ann","Pin":"h\u00e4",  "card":{"number": 4111,"open":true},"list":[{"pin":null},{"pin":12}],"keys":[1, 2]}`
	for _, c := range []struct {
		mask []string
		want string
		n    int
	}{
		{nil, args, 0},
		{[]string{"nothing"}, args, 0},
		{[]string{"pin", "$.keys"}, `{"to":"ann","Pin":"*** (string, 3 bytes)","card":{"number":4111,"open":true},"list":[{"pin":null},{"pin":"*** (number, 2 characters)"}],"keys":"*** (list, 6 bytes)"}`, 3},
		{[]string{"$.card.*"}, `{"to":"ann","Pin":"h\u00e4","card":{"number":"*** (number, 4 characters)","open":"*** (boolean)"},"list":[{"pin":null},{"pin":12}],"keys":[1, 2]}`, 2},
		{[]string{"card"}, `{"to":"ann","Pin":"h\u00e4","card":"*** (object, 28 bytes)","list":[{"pin":null},{"pin":12}],"keys":[1, 2]}`, 1},
	} {
		got, n := redactor(t, "full", c.mask...).Shown([]byte(args))
		if n != c.n || strings.ReplaceAll(string(got), "[1,2]", "[1, 2]") != c.want || !json.Valid(got) {
			t.Errorf("%v: %d\n%s\nwant\n%s", c.mask, n, got, c.want)
		}
	}
	if got, n := redactor(t, "full", "a").Shown(nil); got != nil || n != 0 {
		t.Errorf("%s, %d", got, n)
	}
}

func TestValues(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	read := []reading.Value{{Field: "path", Texts: []string{`"a"`}}, {Field: "$.pay.Amount", Amount: "1.50"}, {Field: "id", Texts: many}}
	line := func(values []audit.Value) string {
		for i := range values {
			if len(values[i].Hashes) > 1 {
				values[i].Hashes = values[i].Hashes[:1]
			}
			if len(values[i].Values) > 1 {
				values[i].Values = values[i].Values[:1]
			}
		}
		b, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(audit.HashOf(`"a"`), "A", audit.HashOf("0"), "0").Replace(string(b))
	}
	for _, c := range []struct{ got, want string }{
		{line(redactor(t, "full").Results(read)), `[{"field":"path","sha256":["A"],"values":["a"]},{"field":"$.pay.Amount","amount":1.50},{"field":"id","sha256":["0"],"values":[0],"lacks":"too many"}]`},
		{line(redactor(t, "full").Values(read)), `[{"field":"path","sha256":["A"]},{"field":"$.pay.Amount","amount":1.50},{"field":"id","sha256":["0"],"lacks":"too many"}]`},
		{line(redactor(t, "masked", "amount").Results(read)), `[{"field":"path","sha256":["A"]},{"field":"$.pay.Amount","lacks":"masked"},{"field":"id","sha256":["0"],"lacks":"too many"}]`},
		{line(redactor(t, "hash", "$.pay").Results(read[1:2])), `[{"field":"$.pay.Amount","lacks":"masked"}]`},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
