package daemon

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/serve/control"
)

// A site has a configuration that extends a signed base in the same directory.
type site struct {
	*testing.T
	dir, key string
	options  config.Options
}

func newSite(t *testing.T) *site {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	s := &site{T: t, dir: t.TempDir()}
	s.key = strings.Split(string(s.signed("k.pub")), "\n")[1]
	s.options.Path = filepath.Join(s.dir, "petrigate.yaml")
	return s
}

// signed returns a file signed with minisign.
func (s *site) signed(name string) []byte {
	s.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "basefile", "testdata", name))
	if err != nil {
		s.Fatal(err)
	}
	return data
}

func (s *site) write(name string, data []byte) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), data, 0o600); err != nil {
		s.Fatal(err)
	}
}

// put writes a base next to the configuration that extends it.
func (s *site) put(base, local string) {
	s.Helper()
	s.write("base.yaml", s.signed(base+".yaml"))
	s.write("base.yaml.minisig", s.signed(base+".yaml.minisig"))
	s.extends("file: base.yaml", local)
}

// extends writes the configuration.
func (s *site) extends(base, local string) {
	s.Helper()
	s.write("petrigate.yaml", []byte("state: { driver: memory }\nconsole: { http: \"off\" }\nextends: [ { "+base+", key: \""+s.key+"\" } ]\n"+local))
}

func (s *site) load() (*config.Config, error) { return config.Load(s.options) }

// start puts the policy in force as Run does at startup.
func (s *site) start(log io.Writer) *Daemon {
	s.Helper()
	c, err := s.load()
	if err != nil {
		s.Fatal(err)
	}
	result, known, err := Policy(s.Context(), c)
	if err != nil {
		s.Fatal(err)
	}
	o := Options{Config: c, Policy: result, Known: known, Load: s.load}
	if log != nil {
		o.Log = slog.NewTextHandler(log, nil)
	}
	d, err := New(o)
	if err != nil {
		s.Fatal(err)
	}
	if err := recordBases(c); err != nil {
		s.Fatal(err)
	}
	return d
}

// TestSignedBaseCannotBeWeakened puts a signed base in force and then tries to loosen it, to roll
// it back and to replace it.
func TestSignedBaseCannotBeWeakened(t *testing.T) {
	s := newSite(t)
	s.put("b7", "")
	d := s.start(nil)
	defer d.Close()
	for _, step := range []struct {
		base, local string
		dry         bool
		result      string
		problem     string
	}{
		{"b8", "", true, control.DryRun, ""},
		{"b7", "rules: [ { inline: block rm } ]", false, control.Applied, ""}, // a dry run records nothing
		{"b8", "", false, control.Applied, ""},
		{"b7", "", false, control.Invalid, "rolled back"},
		{"b8swapped", "", false, control.Invalid, "was replaced"},
		{"bothername", "", false, control.Invalid, "replaced by another policy"},
		{"botherkey", "", false, control.Invalid, "signed with the key"},
		{"b8", "rules: [ { inline: map bash.command runs make as test } ]", false, control.Invalid, "allows what the base policy"},
		{"b8", "mode: shadow", false, control.Invalid, "weaker"},
		{"b8", "", false, control.Unchanged, ""},
	} {
		s.put(step.base, step.local)
		before, _ := d.reloads.inForce()
		r := d.Reload(t.Context(), control.Reload{Actor: "test", DryRun: step.dry})
		if r.Result != step.result || !strings.Contains(r.Problem, step.problem) {
			t.Errorf("%s %s: %s, %s", step.base, step.local, r.Result, r.Problem)
		}
		if is, _ := d.reloads.inForce(); (is == before) != (step.problem != "" || step.dry) {
			t.Errorf("%s %s: %s, and in force is version %d", step.base, step.local, r.Result, is.Bases[0].Version)
		}
	}
	s.options.Require = []string{"acme@8=" + s.key}
	if r := d.Reload(t.Context(), control.Reload{Actor: "test"}); r.Result != control.Unchanged {
		t.Errorf("%s, %s", r.Result, r.Problem)
	}
	s.write("petrigate.yaml", []byte("state: { driver: memory }\nconsole: { http: \"off\" }\n"))
	if r := d.Reload(t.Context(), control.Reload{Actor: "test"}); r.Result != control.Invalid || !strings.Contains(r.Problem, `does not extend the required base policy "acme" signed by the key 32A0177F40CEC7A5, of version 8 or higher`) {
		t.Errorf("%s, %s", r.Result, r.Problem)
	}
}

// TestVerifiedBaseIsUsed replaces the files of a base after they were read. The content in force
// must be the content that was verified.
func TestVerifiedBaseIsUsed(t *testing.T) {
	s := newSite(t)
	s.extends("file: base.yaml", "")
	reads := map[string]int{}
	s.options.Unsaved = func(path string) ([]byte, bool) {
		name, isBase := strings.CutPrefix(filepath.Base(path), "base.yaml")
		if !isBase {
			return nil, false
		}
		if reads[name]++; reads[name] > 1 {
			return s.signed("botherkey.yaml" + name), true
		}
		return s.signed("b7.yaml" + name), true
	}
	if _, err := s.load(); err != nil {
		t.Fatal(err)
	}
	if reads[""] != 1 || reads[".minisig"] != 1 {
		t.Errorf("it is read %v times", reads)
	}
	for _, link := range []string{"base.yaml", "base.yaml.minisig"} { // symbolic links whose targets change before the policy is built
		s.write("good-"+link, s.signed("b7"+strings.TrimPrefix(link, "base")))
		s.write("evil-"+link, []byte("base: { name: acme, version: 7 }\n"))
		if err := os.Symlink("good-"+link, filepath.Join(s.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s.options.Unsaved = nil
	c, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []string{"base.yaml", "base.yaml.minisig"} {
		if err := os.Rename(filepath.Join(s.dir, "evil-"+link), filepath.Join(s.dir, "good-"+link)); err != nil {
			t.Fatal(err)
		}
	}
	result, _, err := Policy(t.Context(), c)
	if err != nil || len(result.Policy.Nets()) != 2 {
		t.Errorf("%v, %v", result, err)
	}
	if _, err := s.load(); err == nil {
		t.Error("the base that was swapped is taken")
	}
}

// TestUnreachableBaseUsesCopy restarts the daemon while the address of a base is unreachable. The
// copy that was in force must be used.
func TestUnreachableBaseUsesCopy(t *testing.T) {
	s := newSite(t)
	gone := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if gone {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write(s.signed(strings.TrimPrefix(r.URL.Path, "/")))
	}))
	defer server.Close()
	s.extends("url: "+server.URL+"/b7.yaml", "")
	s.options.Fetch = BaseFetcher(t.Context())
	gone = true
	if _, err := s.load(); err == nil || !strings.Contains(err.Error(), "503") {
		t.Fatalf("a first start without the base: %v", err)
	}
	gone = false
	c, err := s.load()
	if err != nil || c.Bases[0].Copy != "" {
		t.Fatal(err)
	}
	gone = true
	if _, err := s.load(); err == nil {
		t.Error("a base that was read and never in force is taken")
	}
	gone = false
	s.start(nil).Close()
	gone = true
	c, err = s.load()
	if err != nil || len(c.Bases) != 1 || c.Bases[0].Version != 7 || !strings.Contains(c.Bases[0].Copy, "503") {
		t.Fatalf("the copy is not taken: %v", err)
	}
	if said := c.Warnings.Error(); !strings.Contains(said, "using the last copy in force") || !strings.Contains(said, "petrigate.yaml:3:") {
		t.Errorf("the warnings: %s", said)
	}
	if _, _, err := Policy(t.Context(), c); err != nil {
		t.Error(err)
	}
	s.options.Fetch = StoredBases
	if _, err := s.load(); err != nil {
		t.Errorf("the copy by itself: %v", err)
	}
}

// A locked is a writer protected by a lock.
type locked struct {
	io.Writer
	mu *sync.Mutex
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Writer.Write(b)
}

// TestBaseIsRefreshed checks that an address is read again at the configured interval.
func TestBaseIsRefreshed(t *testing.T) {
	s := newSite(t)
	s.extends("url: https://p.example/base, refresh: 15m", "")
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // guards these variables and the log
		serves, away, asked := "b7", error(nil), 0
		s.options.Fetch = func(...string) ([][]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			asked++
			return [][]byte{s.signed(serves + ".yaml"), s.signed(serves + ".yaml.minisig")}, away
		}
		var log bytes.Buffer
		d := s.start(locked{&log, &mu})
		ctx, end := context.WithCancel(t.Context())
		var work sync.WaitGroup
		work.Go(func() { d.triggers.refresh(ctx) })
		for _, step := range []struct {
			entry   string // entry of a new configuration, which is reloaded; empty if nothing is reloaded
			serves  string
			away    error
			pass    time.Duration
			version int // version in force afterwards
			reads   int // number of times that the base and its signature are read
			said    string
		}{
			{"", "b7", nil, 14 * time.Minute, 7, 0, ""},
			{"", "b7", nil, time.Minute, 7, 1, ""},
			{"", "b8", nil, 15 * time.Minute, 8, 2, `actor="refreshed base"`}, // twice: to look, and to reload
			{"", "b7", nil, 15 * time.Minute, 8, 2, "rolled back"},
			{"", "b8", &basefile.CopyError{Err: errors.New("no network")}, 15 * time.Minute, 8, 1, "a base policy cannot be fetched: a newer one could exist"},
			{"url: https://p.example/base, refresh: 1h", "b8", nil, 59 * time.Minute, 8, 0, ""},
			{"", "b8", nil, time.Minute, 8, 1, ""},
			{"url: https://p.example/base", "b8", nil, 24 * time.Hour, 8, 0, ""},
		} {
			mu.Lock()
			serves, away = step.serves, step.away
			mu.Unlock()
			if step.entry != "" {
				s.extends(step.entry, "")
				d.Reload(t.Context(), control.Reload{Actor: "test"})
			}
			mu.Lock()
			log.Reset()
			asked = 0
			mu.Unlock()
			<-time.After(step.pass) // fake time: no real time passes
			synctest.Wait()
			is, _ := d.reloads.inForce()
			mu.Lock()
			if is.Bases[0].Version != step.version || asked != step.reads || !strings.Contains(log.String(), step.said) || step.said == "" && log.Len() > 0 {
				t.Errorf("%+v: version %d is in force, %d reads, %s", step, is.Bases[0].Version, asked, log.String())
			}
			mu.Unlock()
		}
		end()
		work.Wait()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
