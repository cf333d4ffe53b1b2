package basefile

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// file returns a file in testdata. The files were signed by minisign 0.11, with keys created for
// these tests.
func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func key(t *testing.T, name string) string {
	t.Helper()
	return strings.Split(string(file(t, name)), "\n")[1]
}

func TestSigned(t *testing.T) {
	k, data, sig := key(t, "k.pub"), file(t, "b7.yaml"), file(t, "b7.yaml.minisig")
	if err := Signed(data, sig, k); err != nil {
		t.Fatal(err)
	}
	if id, err := KeyID(k); err != nil || id != "32A0177F40CEC7A5" {
		t.Errorf("the key is %s, %v", id, err)
	}
	for name, c := range map[string]struct {
		data, sig []byte
		key, want string
	}{
		"other bytes":     {append(data, '\n'), sig, k, "does not match these bytes"},
		"cut bytes":       {data[:len(data)-1], sig, k, "does not match these bytes"},
		"other signature": {data, file(t, "b8.yaml.minisig"), k, "does not match these bytes"},
		"other key":       {data, sig, key(t, "o.pub"), "signed with the key 32A0177F40CEC7A5"},
		"other comment":   {data, []byte(strings.Replace(string(sig), "acme 7", "acme 8", 1)), k, "does not match these bytes"},
		"no signature":    {data, nil, k, "not a minisign signature; sign it again"},
		"long signature":  {data, []byte(strings.Repeat("x", MaxSignature+1)), k, "not a minisign signature"},
		"no key":          {data, sig, "RW", "reading the public key"},
	} {
		if err := Signed(c.data, c.sig, c.key); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBook(t *testing.T) {
	path := VersionsPath(filepath.Join(t.TempDir(), "state"))
	seven := Seen{Key: "k", Place: "/base", Name: "acme", Version: 7, Digest: Digest([]byte("7"))}
	change := func(f func(*Seen)) Seen { s := seven; f(&s); return s }
	if err := Record(path, []Seen{seven}); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		seen Seen
		want string // empty if the file is accepted
	}{
		"the same":          {seven, ""},
		"a higher one":      {change(func(s *Seen) { s.Version, s.Digest = 8, Digest([]byte("8")) }), ""},
		"moved":             {change(func(s *Seen) { s.Place = "/new" }), ""},
		"another one":       {change(func(s *Seen) { s.Name, s.Place, s.Version = "other", "/new", 1 }), ""},
		"rolled back":       {change(func(s *Seen) { s.Version = 6 }), "rolled back"},
		"elsewhere":         {change(func(s *Seen) { s.Version, s.Place = 6, "/new" }), "rolled back"},
		"swapped":           {change(func(s *Seen) { s.Digest = Digest([]byte("x")) }), "was replaced"},
		"of another name":   {change(func(s *Seen) { s.Name, s.Version = "evil", 9 }), "replaced by another"},
		"under another key": {change(func(s *Seen) { s.Key, s.Version = "l", 1 }), ""},
	} {
		err := CheckVersions(path, []Seen{c.seen})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Record(path, []Seen{change(func(s *Seen) { s.Version, s.Digest = 8, Digest([]byte("8")) })}); err != nil {
		t.Fatal(err)
	}
	if err := Record(path, []Seen{seven}); err == nil {
		t.Error("version 7 is in force after version 8")
	}
}

// TestBrokenBook checks that no version is accepted if the file with the versions cannot be read.
func TestBrokenBook(t *testing.T) {
	entry := `{"key":"k","place":"/b","name":"a","version":1,"digest":"` + Digest(nil) + `"}`
	for name, text := range map[string]string{
		"empty":        "",
		"cut":          `{"version":1,"bases":[`,
		"a version":    `{"version":2,"bases":[]}`,
		"more":         `{"version":1,"bases":[],"x":1}`,
		"twice":        `{"version":1,"bases":[` + entry + "," + entry + `]}`,
		"two keys":     `{"version":1,"version":1,"bases":[]}`,
		"no version":   `{"version":1,"bases":[` + strings.Replace(entry, `"version":1`, `"version":0`, 1) + `]}`,
		"two versions": `{"version":1,"bases":[` + strings.Replace(entry, `"name"`, `"version":9,"name"`, 1) + `]}`,
		"behind":       `{"version":1,"bases":[]} {}`,
		"too large":    `{"version":1,"bases":[]` + strings.Repeat(" ", maxVersionsFile) + `}`,
	} {
		path := filepath.Join(t.TempDir(), "book")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckVersions(path, nil); err == nil || !strings.Contains(err.Error(), "restore it, or check the version") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFetch(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("other")) }))
	defer other.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/base", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("base")) })
	mux.Handle("/away", http.RedirectHandler(other.URL, http.StatusFound))
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxFetch+1)) })
	server := httptest.NewServer(mux)
	defer server.Close()
	if data, err := fetch(t.Context(), server.URL+"/base"); err != nil || string(data) != "base" {
		t.Errorf("%q, %v", data, err)
	}
	for path, want := range map[string]string{"/away": "status 302", "/gone": "status 404", "/large": "too many for a base policy"} {
		if _, err := fetch(t.Context(), server.URL+path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := fetch(ended, server.URL+"/base"); err == nil {
		t.Error("it is read after the end")
	}
}
