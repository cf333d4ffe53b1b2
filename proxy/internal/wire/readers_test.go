package wire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// readers contains programs that read one call per line as servers do, and print the name and the
// argument command as they have read them.
var readers = map[string][]string{
	"python3": {"-c", `
import json, sys
for line in sys.stdin.buffer:
    p = json.loads(line, parse_float=lambda s: 0)
    a = p.get("arguments") or {}
    print(json.dumps([p.get("name"), a.get("command")]))
`},
	"node": {"-e", `
require("readline").createInterface({ input: process.stdin, crlfDelay: Infinity }).on("line", line => {
  const p = JSON.parse(line), a = p.arguments || {}
  console.log(JSON.stringify([p.name ?? null, Object.hasOwn(a, "command") ? a.command : null]))
})
`},
}

// pieces contains the parts of generated messages: names, keys and values that parsers are known to
// read differently, and harmless ones.
var pieces = struct{ keys, values, spaces []string }{
	keys: []string{
		`"name"`, `"name"`, `"name"`, `"arguments"`, `"arguments"`, `"Name"`, `"na\u006de"`, `"name\u0000"`, `"argument\u017f"`, `"_meta"`, `"task"`, `"x"`, `"__proto__"`, `"constructor"`,
		`"command"`, `"comm\u0061nd"`, `"Command"`, `"`, `name`, `""`, `"\ud800"`, `"toString"`, "\"n\u00e4me\"", `"length"`,
	},
	values: []string{
		`"safe"`, `"danger"`, `"dan\u0067er"`, `"\u0064anger"`, `"ls"`, `"rm \/ x"`, `"r\u006d"`, "\"\u2028\"", `"\ud83d\ude00"`, `"\ud83d"`, "\"\xff\"", `"\b\f\t"`, "\"\t\"", `"\x41"`, `"a\u0000b"`, "\"e\u0301\"",
		`1`, `1.0`, `-0`, `1e400`, `01`, `+1`, `NaN`, `0x1`, `9007199254740993`, `null`, `true`, `[]`, `["rm"]`, `[1,]`, `{}`, `{"a":1,"a":2}`, `{"command":"ls"}`, `{"command":"rm"}`, `{"command":"ls","command":"rm"}`, `/*x*/1`, `'a'`,
	},
	spaces: []string{"", "", "", "", " ", "\t", "\n", "\r\n", "\u00a0", "\v", "/**/", "\ufeff"},
}

// generated returns a random message that may be a call.
func generated(r *rand.Rand) string {
	one := func(list []string) string { return list[r.IntN(len(list))] }
	var object func(depth int) string
	object = func(depth int) string {
		var b strings.Builder
		b.WriteByte('{')
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				b.WriteByte(',')
			}
			value := one(pieces.values)
			if depth > 0 && r.IntN(3) == 0 {
				value = object(depth - 1)
			}
			space := one
			if r.IntN(4) > 0 {
				space = func([]string) string { return "" }
			}
			b.WriteString(space(pieces.spaces) + one(pieces.keys) + space(pieces.spaces) + ":" + space(pieces.spaces) + value)
		}
		return b.String() + "}"
	}
	params := object(2)
	if r.IntN(2) == 0 {
		params = `{"name":` + one(pieces.values) + `,"arguments":` + object(1) + `}`
	}
	return call(params)
}

// TestOtherReaders covers A028: in an accepted message, other parsers read the same name as this
// package, and the same value of the argument that a rule would check.
func TestOtherReaders(t *testing.T) {
	const most = 60_000
	r := rand.New(rand.NewPCG(1, 28))
	var sent bytes.Buffer
	var want []string
	for range most {
		c, fault := parseCall(generated(r))
		if fault != nil {
			continue
		}
		sent.Write(c.AppendForward(nil, Hop{Name: c.Name}))
		sent.WriteByte('\n')
		exact := map[string]json.RawMessage{}
		if c.Arguments != nil {
			if err := json.Unmarshal(c.Arguments, &exact); err != nil {
				t.Fatalf("%s: %v", c.Arguments, err)
			}
		}
		want = append(want, compared(t, c.Name, exact["command"]))
	}
	if len(want) < most/50 {
		t.Fatalf("%d of %d messages are accepted: too few to compare", len(want), most)
	}
	for name, args := range readers {
		t.Run(name, func(t *testing.T) {
			program, err := exec.LookPath(name)
			if err != nil {
				t.Skip(err)
			}
			p := exec.CommandContext(t.Context(), program, args...)
			p.Stdin = bytes.NewReader(sent.Bytes())
			out, err := p.Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(lines) != len(want) {
				t.Fatalf("%d of %d calls were read", len(lines), len(want))
			}
			for i, line := range lines {
				var pair [2]json.RawMessage
				var tool string
				if json.Unmarshal([]byte(line), &pair) != nil || json.Unmarshal(pair[0], &tool) != nil {
					t.Fatalf("line %d: %s", i, line)
				}
				if got := compared(t, tool, pair[1]); got != want[i] {
					t.Errorf("line %d: read as %s, here as %s", i, got, want[i])
				}
			}
		})
	}
}

// compared returns a name and an argument in a form that can be compared. Numbers are reduced to
// their kind, because other parsers keep them less exactly.
func compared(t *testing.T, name string, command json.RawMessage) string {
	t.Helper()
	var v any
	if command != nil {
		d := json.NewDecoder(bytes.NewReader(command))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: %v", command, err)
		}
	}
	b, err := json.Marshal([]any{name, leveled(v)})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// leveled replaces all numbers in a value, and the substitutes that other parsers write for numbers
// that they cannot represent.
func leveled(v any) any {
	switch v := v.(type) {
	case json.Number, nil:
		return 0
	case []any:
		for i := range v {
			v[i] = leveled(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = leveled(v[key])
		}
	}
	return v
}
