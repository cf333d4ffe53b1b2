package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/serve/draft"
)

// TestDraftOverRecordedDecisions replays a proxy's recorded decisions under a draft, for each kind
// of store, and checks that the draft is not put in force.
func TestDraftOverRecordedDecisions(t *testing.T) {
	for name, c := range map[string]struct{ more, record, problem string }{
		"file":     {"audit: { file: audit.jsonl }\nstate: { driver: memory }\n", "audit.jsonl", ""},
		"database": {"state: { driver: sqlite, path: state.db }\n", "state.db", ""},
		"nothing":  {"state: { driver: memory }\n", "", draft.ErrNoRecord.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for name, text := range map[string]string{"a.rules": "limit push to 2 per session\n", "petrigate.yaml": "mcpServers: {}\nrules: [{ file: a.rules }]\n" + c.more} {
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cfg, err := config.Load(config.Options{Path: "petrigate.yaml"})
			if err != nil {
				t.Fatal(err)
			}
			result, _, err := Policy(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			d, err := New(Options{Config: cfg, Policy: result})
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			d.Begin(cfg.State.Driver)
			d.begun.Store(true)
			desk := d.drafts()
			defer desk.Close()
			p, err := desk.Policy(t.Context(), "ann")
			if err != nil || filepath.Base("/"+p.Record) != filepath.Base("/"+c.record) || len(p.Texts) != 1 || len(p.Files) != 2 || p.Report == nil {
				t.Fatalf("%+v, %v", p, err)
			}
			one := draft.Draft{Of: p.Texts[0].ID, Text: "limit push to 1 per session\n"}
			checked, err := desk.Check(t.Context(), "ann", one)
			if err != nil || !strings.Contains(checked.Problems[0].Message, "no server is configured") {
				t.Errorf("%+v, %v", checked, err)
			}
			if r, err := desk.Replay(t.Context(), one, time.Time{}); c.problem != "" && (err == nil || err.Error() != c.problem) || c.problem == "" && (err != nil || r.Records != 2) {
				t.Errorf("%+v, %v", r, err)
			}
			if is, _ := d.reloads.inForce(); is.Rules[0].Text != "limit push to 2 per session\n" {
				t.Errorf("%+v is in force", is.Rules)
			}
		})
	}
}
