package statecode_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/runtime/store/statecode"
)

// TestAdmittingProcesses: a part names the process that admitted each open call, except the process of the
// session itself. Only parts with such names have the form that older programs refuse.
func TestAdmittingProcesses(t *testing.T) {
	p, err := gate.NewPolicy(nil, gate.PolicyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c := statecode.New(p, nil)
	s := p.NewState(nil)
	for range 3 {
		_, delta := p.Decide(s, gate.Call{Tool: "x", Time: noon}, nil)
		s.Apply(delta)
	}
	for _, test := range []struct {
		name, writer, form string
		written            statecode.Processes
		want               map[uint64]string
	}{
		{"own session", "w", "1", statecode.Processes{Own: "w"}, map[uint64]string{1: "w", 2: "w", 3: "w"}},
		{"taken over", "w", "2", statecode.Processes{Own: "w", Others: map[uint64]string{2: "v"}}, map[uint64]string{1: "w", 2: "v", 3: "w"}},
		{"lasting", "", "2", statecode.Processes{Own: "w", Others: map[uint64]string{2: ""}}, map[uint64]string{1: "w", 2: "", 3: "w"}},
		{"before form 2", "", "1", statecode.Processes{}, map[uint64]string{1: "", 2: "", 3: ""}},
	} {
		data, err := c.AppendSession(nil, s, statecode.Info{Principal: "ann", Since: noon, Writer: test.writer}, test.written)
		if err != nil || !strings.HasPrefix(string(data), `{"v":`+test.form+",") || !strings.Contains(string(data), statecode.OpenCalls) {
			t.Fatalf("%s: %s, %v", test.name, data, err)
		}
		l, err := c.Session("s", data, nil)
		if err != nil || !maps.Equal(l.Processes, test.want) {
			t.Errorf("%s: %v, %v, want %v", test.name, l.Processes, err, test.want)
		}
		info, open, err := statecode.ReadOpen("s", data)
		got := map[uint64]string{}
		for _, o := range open {
			if got[o.Number] = o.Process; o.Tool != "x" || !o.Since.Equal(noon) || o.Unknown {
				t.Errorf("%s: %+v", test.name, o)
			}
		}
		if err != nil || info.Open != 3 || info.Writer != test.writer || !maps.Equal(got, test.want) {
			t.Errorf("%s: %+v, %v, %v", test.name, info, open, err)
		}
	}
	for _, tool := range []string{`,"calls":[{"number":`, "x"} {
		s := p.NewState(nil)
		data, err := c.AppendSession(nil, s, statecode.Info{Principal: tool, Since: time.Unix(1, 0), About: tool}, statecode.Processes{})
		if err != nil || strings.Contains(string(data), statecode.OpenCalls) {
			t.Errorf("%s looks like a session with open calls, %v", data, err)
		}
	}
}

// TestFurtherCallsAreStored: the number of further calls that a call of unknown outcome represents is stored with
// it.
func TestFurtherCallsAreStored(t *testing.T) {
	p, _ := gate.NewPolicy(nil, gate.PolicyOptions{})
	c, s := statecode.New(p, nil), p.NewState(nil)
	for range 1000 {
		_, delta := p.Decide(s, gate.Call{Tool: "x", Time: noon}, nil)
		s.Apply(delta)
		s.Apply(p.Settle(s, delta.Opened.Number, gate.Unknown))
	}
	data, err := c.AppendSession(nil, s, statecode.Info{Principal: "ann", Since: noon}, statecode.Processes{})
	if err != nil || len(data) > 2000 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	l, err := c.Session("s", data, nil)
	_, calls, openErr := statecode.ReadOpen("s", data)
	if err != nil || openErr != nil || calls[0].More != 984 || calls[1].More != 0 || !reflect.DeepEqual(l.State.Open(), s.Open()) {
		t.Errorf("%v, %v\n%s\n%+v", err, openErr, data, calls)
	}
}
