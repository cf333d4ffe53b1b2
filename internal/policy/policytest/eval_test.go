package policytest

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func evalText(t *testing.T, in string) ([]string, []Difference) {
	t.Helper()
	var out bytes.Buffer
	evaluation, err := Eval(strings.NewReader(in), &out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), evaluation.Differences
}

func TestEvalCountsWhatItCannotRead(t *testing.T) {
	in := "{}\n{\"calls\":[]}\n{\"case\":{\"x\":1},\"expect\":{\"errors\":[{\"line\":0}]}}\n{\"rules\":\"bloc\"}\n"
	e, err := Eval(strings.NewReader(in), io.Discard)
	if err != nil || len(e.Differences) > 0 {
		t.Fatalf("%v, %v", e.Differences, err)
	}
	want := []UnreadableCase{{2, `unknown field "calls" (the fields are name, rules, nets, active, default, mode, events)`}}
	if diff := cmp.Diff(want, e.Unreadable); diff != "" {
		t.Error(diff)
	}
	if got := e.Unreadable[0].String(); got != `line 2: not a case: unknown field "calls" (the fields are name, rules, nets, active, default, mode, events)` {
		t.Error(got)
	}
}

// errorsOf returns the answer to a line that cannot be parsed as a case.
func errorsOf(name, message string) string {
	return `{"name":"` + name + `","errors":[{"line":0,"column":0,"message":"not a case: ` + message + `"}]}`
}

func TestEvalLines(t *testing.T) {
	tests := []struct{ name, line, want string }{
		{"the least", `{}`, `{"name":"","nets":[],"decisions":[],"final":[]}`},
		{"no JSON", `x`, errorsOf("", "invalid character 'x' looking for beginning of value")},
		{"an empty line", ``, errorsOf("", "EOF")},
		{"no object", `[]`, errorsOf("", "json: cannot unmarshal array into Go value of type policytest.policyCase")},
		{"a list with a case", `[{"case":{}}]`, errorsOf("", "json: cannot unmarshal array into Go value of type map[string]json.RawMessage")},
		{"a case by name", `{"name":"n","mode":"case"}`, errorsOf("n", `unknown mode \"case\": enforce or shadow`)},
		{"a case in a value", `{"name":"case"}`, `{"name":"case","nets":[],"decisions":[],"final":[]}`},
		{"an unknown key", `{"name":"n","rulez":""}`, errorsOf("n", `unknown field \"rulez\" (did you mean \"rules\"?)`)},
		{"a key that is near none", `{"calls":[]}`, errorsOf("", `unknown field \"calls\" (the fields are name, rules, nets, active, default, mode, events)`)},
		{"an unknown key of an event", `{"events":[{"type":"call","tool":"a"},{"type":"call","tol":"a"}]}`, errorsOf("", `event 1: unknown field \"tol\" (did you mean \"tool\"?)`)},
		{"events of another type", `{"events":3}`, errorsOf("", "json: cannot unmarshal number into Go struct field policyCase.events of type []json.RawMessage")},
		{"an unknown key beside the case", `{"case":{},"except":{}}`, errorsOf("", `unknown key \"except\" beside the case`)},
		{"no case in it", `{"case":1}`, errorsOf("", "json: cannot unmarshal number into Go value of type policytest.policyCase")},
		{"a wait", `{"events":[{"type":"wait","for":"soon"}]}`, errorsOf("", `event 0: invalid duration \"soon\"; write one such as 20s`)},
		{"shadow", `{"name":"n","mode":"shadow","rules":"block a","events":[{"type":"call","tool":"a"}]}`,
			`{"name":"n","nets":[{"name":"block-a","states":2}],"decisions":[{"i":0,"decision":"allow","kind":"blocked","nets":["block-a"],"cause":"block","reason":"a is blocked and cannot be called."}],"final":[{"name":"block-a","active":true,"marking":{"ready":1},"inFlight":0}]}`},
		{"too often", `{"events":[{"type":"call","tool":"a","times":10000001}]}`, errorsOf("", "event 0: times must be from 1 to 10000000")},
		{"never", `{"events":[{"type":"call","tool":"a","times":-1}]}`, errorsOf("", "event 0: times must be from 1 to 10000000")},
		{"often and later", `{"events":[{"type":"call","tool":"a","times":2,"approve":"wait"}]}`, errorsOf("", "event 0: a repeated call cannot wait for its answer")},
		{"time", `{"rules":"limit a to 1 per minute","events":[{"type":"call","tool":"a"},{"type":"call","tool":"a"},{"type":"wait","for":"1m"},{"type":"call","tool":"a"}]}`,
			`{"name":"","nets":[{"name":"limit-a-1-per-minute","states":3}],"decisions":[{"i":0,"decision":"allow","nets":[]},{"i":1,"decision":"refuse","kind":"blocked","nets":["limit-a-1-per-minute"],"cause":"limit","reason":"a has reached its limit of 1 call per minute; the next call is possible in 1m."},{"i":2,"decision":"settled"},{"i":3,"decision":"allow","nets":[]}],"final":[{"name":"limit-a-1-per-minute","active":true,"marking":{"ready":1,"spent":1},"inFlight":0}]}`},
		{"no tool", `{"events":[{"type":"call","id":"1"}]}`, errorsOf("", "event 0: the call has no tool")},
		{"a weak name", `{"rules":"block b unless c","events":[{"type":"call","tool":"a","also":["b","c"],"weak":["b"]},{"type":"call","tool":"a","also":["b","c"],"weak":["c"]}]}`,
			`{"name":"","nets":[{"name":"block-b","states":2}],"decisions":[{"i":0,"decision":"allow","nets":[]},{"i":1,"decision":"refuse","kind":"blocked","nets":["block-b"],"cause":"block","reason":"b is blocked and cannot be called."}],"final":[{"name":"block-b","active":true,"marking":{"ready":1},"inFlight":0}]}`},
		{"a weak name of the tool", `{"rules":"block b unless a","events":[{"type":"call","tool":"a","also":["b"],"weak":["a"]}]}`,
			`{"name":"","nets":[{"name":"block-b","states":2}],"decisions":[{"i":0,"decision":"refuse","kind":"blocked","nets":["block-b"],"cause":"block","reason":"b is blocked and cannot be called."}],"final":[{"name":"block-b","active":true,"marking":{"ready":1},"inFlight":0}]}`},
		{"a weak name that it does not have", `{"events":[{"type":"call","tool":"a","also":["b"],"weak":["a","c"]}]}`,
			errorsOf("", `event 0: \"c\" is listed under weak, but is neither the tool nor listed under also`)},
		{"no arguments", `{"events":[{"type":"call","tool":"a","args":[1]}]}`, errorsOf("", "event 0: the args are not an object")},
		{"an outcome", `{"events":[{"type":"result","id":"1","outcome":"good"}]}`, errorsOf("", `event 0: unknown outcome \"good\"`)},
		{"an answer", `{"events":[{"type":"answer","id":"1"}]}`, errorsOf("", "event 0: the answer must be true or false")},
		{"a second value", `{"name":"n"} {}`, errorsOf("n", "unexpected text after the case")},
		{"consent", `{"events":[{"type":"call","tool":"a","approve":"yes"}]}`, errorsOf("", `event 0: approve must be true, false or \"wait\", not \"yes\"`)},
		{"a type", `{"events":[{"type":"activate"},{"type":"sing"}]}`, errorsOf("", `event 1: unknown type \"sing\"`)},
		{"null for what is absent", `{"rules":null,"nets":null,"active":null,"events":[{"type":"call","tool":"a","args":null,"approve":null}]}`,
			`{"name":"","nets":[],"decisions":[{"i":0,"decision":"allow","nets":[]}],"final":[]}`},
		{"rules in error", `{"name":"<n>","rules":"block\nblock a\nbloc"}`,
			`{"name":"<n>","errors":[{"line":1,"column":6,"message":"the name to block is missing","code":"E004"},{"line":3,"column":1,"message":"unknown statement \"bloc\"","code":"E003"}]}`},
		{"nets in error", `{"nets":[{"name":"a","x":1,"y":2},3,{"name":"b","places":["p"],"transitions":[{"name":"t","type":"manual"},{"name":"u","type":"manual"}]}],"rules":"bloc"}`,
			`{"name":"","errors":[{"line":0,"column":0,"message":"unknown key \"x\" in a net","code":"E105","net":"a"},` +
				`{"line":0,"column":0,"message":"a net must be a mapping, not a number","code":"E105","net":"nets[1]"},` +
				`{"line":0,"column":0,"message":"transition \"t\": the transition is manual and has no tools","code":"E101","net":"b"},` +
				`{"line":1,"column":1,"message":"unknown statement \"bloc\"","code":"E003"}]}`},
		{"a default", `{"default":"ask"}`, `{"name":"","errors":[{"line":0,"column":0,"message":"the default \"ask\" is not supported","code":"E104"}]}`},
		{"approval", `{"rules":"require human-approval before a","events":[{"type":"call","id":"1","tool":"a"},{"type":"call","id":"2","tool":"a","approve":"wait"},` +
			`{"type":"call","id":"2","tool":"a","approve":true},{"type":"answer","id":"2","approve":false},{"type":"answer","id":"2","approve":true},` +
			`{"type":"call","id":"3","tool":"a","approve":true},{"type":"result","id":"3","outcome":"success"}]}`,
			`{"name":"","nets":[{"name":"approve-before-a","states":2}],"decisions":[` +
				`{"i":0,"decision":"refuse","kind":"approval","nets":["approve-before-a"],"cause":"approval","reason":"a requires human approval."},` +
				`{"i":1,"decision":"ask","kind":"approval","nets":["approve-before-a"],"cause":"approval","reason":"a requires human approval."},` +
				`{"i":2,"decision":"refuse","kind":"duplicate","nets":[],"reason":"*"},` +
				`{"i":3,"decision":"refuse","kind":"approval","nets":["approve-before-a"],"cause":"approval","reason":"a requires human approval."},` +
				`{"i":4,"decision":"ignored"},{"i":5,"decision":"allow","nets":[]},{"i":6,"decision":"settled"}],` +
				`"final":[{"name":"approve-before-a","active":true,"marking":{"ready":1},"inFlight":0}]}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, _ := evalText(t, test.line+"\n")
			if len(got) != 1 || !alike(got[0], test.want) {
				t.Errorf("-want +got:\n%s", cmp.Diff(test.want, strings.Join(got, "\n")))
			}
		})
	}
}

// alike compares texts; a star in want matches any text.
func alike(got, want string) bool {
	before, after, star := strings.Cut(want, "*")
	if !star {
		return got == want
	}
	return strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// TestEvalOrder checks that every line has an answer and that lines end only at LF.
func TestEvalOrder(t *testing.T) {
	got, _ := evalText(t, "{\"name\":\"1\u2028\"}\nx\r\n\n{\"name\":\"4\"}\r\n{\"name\":\"5\"} {}\n{\"name\":\"6\"}")
	want := []string{"1\\u2028", "", "", "4", "5", "6"}
	if len(got) != len(want) {
		t.Fatalf("%d answers:\n%s", len(got), strings.Join(got, "\n"))
	}
	for i, name := range want {
		if !strings.HasPrefix(got[i], `{"name":"`+name+`"`) {
			t.Errorf("line %d: %s", i+1, got[i])
		}
	}
}

func TestDifferences(t *testing.T) {
	const events = `"case":{"name":"n","rules":"block a","events":[{"type":"call","id":"1","tool":"a"}]}`
	const nets = `"nets":[{"name":"block-a","states":2}]`
	const decisions = `"decisions":[{"i":0,"decision":"refuse","kind":"blocked","nets":["block-a"]}]`
	const final = `"final":[{"name":"block-a","active":true,"marking":{"ready":1},"inFlight":0}]`
	tests := []struct{ name, line, want string }{
		{"none", `{` + events + `,"expect":{"name":"n",` + nets + `,` + decisions + `,` + final + `}}`, ""},
		{"no expectation", `{` + events + `}`, ""},
		{"states", `{` + events + `,"expect":{"nets":[{"name":"block-a","states":3}],` + decisions + `,` + final + `}}`,
			"line 1: n: nets[0].states is 2, expected 3"},
		{"decision", `{` + events + `,"expect":{` + nets + `,"decisions":[{"i":0,"decision":"allow"}],` + final + `}}`,
			`line 1: n: decisions[0].decision is "refuse", expected "allow"`},
		{"too few decisions", `{` + events + `,"expect":{` + nets + `,"decisions":[],` + final + `}}`,
			`line 1: n: decisions is [{"cause":"block","decision":"refuse","i":0,"kind":"blocked","nets":["block-a"],"reason":"a is blocked and cannot be called."}], expected []`},
		{"marking", `{` + events + `,"expect":{` + nets + `,` + decisions + `,"final":[{"name":"block-a","marking":{}}]}}`,
			`line 1: n: final[0].marking is {"ready":1}, expected {}`},
		{"no object", `{` + events + `,"expect":{"nets":[1],` + decisions + `,` + final + `}}`,
			`line 1: n: nets[0] is {"name":"block-a","states":2}, expected 1`},
		{"an object where there is none", `{` + events + `,"expect":{` + nets + `,"decisions":[{"decision":{"a":1}}],` + final + `}}`,
			`line 1: n: decisions[0].decision is "refuse", expected {"a":1}`},
		{"errors that are missing", `{` + events + `,"expect":{"errors":[{"line":1}]}}`,
			`line 1: n: errors is null, expected [{"line":1}]`},
		{"errors that are there", `{"case":{"name":"n","rules":"bloc"},"expect":{"nets":[]}}`,
			`line 1: n: errors is [{"line":1}], expected null`},
		{"errors elsewhere", `{"case":{"name":"n","rules":"\nbloc"},"expect":{"errors":[{"line":1,"message":"other"}]}}`,
			`line 1: n: errors[0].line is 2, expected 1`},
		{"errors of nets", `{"case":{"name":"n","nets":[{}]},"expect":{"errors":[{"line":0,"net":"n"}]}}`,
			`line 1: n: errors[0].net is "nets[0]", expected "n"`},
		{"errors alike", `{"case":{"name":"n","nets":[{}]},"expect":{"errors":[{"line":0,"net":"nets[0]"}]}}`, ""},
		{"no expectation to read", `{` + events + `,"expect":[]}`, `line 1: n: expect is [], expected an object`},
		{"a case that is none", `{"case":{"name":"n","x":1},"expect":{"errors":[{"line":0}]}}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, differences := evalText(t, test.line)
			got := ""
			for _, d := range differences {
				got += d.String()
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestEvalErrors(t *testing.T) {
	if _, err := Eval(iotest.ErrReader(io.ErrUnexpectedEOF), io.Discard); !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "reading cases: unexpected EOF" {
		t.Errorf("reading: %v", err)
	}
	if _, err := Eval(strings.NewReader("{}"), brokenWriter{}); !errors.Is(err, io.ErrShortWrite) || err.Error() != "writing answers: short write" {
		t.Errorf("the last write: %v", err)
	}
	if _, err := Eval(strings.NewReader(strings.Repeat("{}\n", 10_000)), brokenWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a write: %v", err)
	}
}

// FuzzEval checks that every line has exactly one answer, which is JSON.
func FuzzEval(f *testing.F) {
	for _, line := range vectorLines(f, "../testdata/vectors/random.jsonl")[:20] {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') {
			t.Skip("more than a line")
		}
		var out bytes.Buffer
		if _, err := Eval(io.MultiReader(bytes.NewReader(line), strings.NewReader("\n")), &out); err != nil {
			t.Fatal(err)
		}
		if bytes.Count(out.Bytes(), []byte("\n")) != 1 || !bytes.HasPrefix(out.Bytes(), []byte(`{"name":`)) {
			t.Fatalf("%q", out.Bytes())
		}
	})
}

func BenchmarkEval(b *testing.B) {
	var cases [][]byte
	for _, file := range []string{"petriflow", "random"} {
		cases = append(cases, vectorLines(b, "../testdata/vectors/"+file+".jsonl")...)
	}
	all := bytes.Join(cases, []byte("\n"))
	for b.Loop() {
		e, err := Eval(bytes.NewReader(all), io.Discard)
		if err != nil || len(e.Differences) > 0 {
			b.Fatal(err, e.Differences)
		}
	}
	b.ReportMetric(float64(len(cases))*float64(b.N)/b.Elapsed().Seconds(), "cases/s")
}
