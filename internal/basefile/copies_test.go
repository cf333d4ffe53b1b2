package basefile

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// TestCopies checks that cached copies are used only if a URL cannot be read, and then all of them.
func TestCopies(t *testing.T) {
	text, broken := "one", ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken != "" && strings.HasSuffix(r.URL.Path, broken) {
			w.WriteHeader(http.StatusBadGateway)
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	c := Copies{Dir: t.TempDir() + "/copies"}
	base, signature := server.URL+"/base", server.URL+"/base.minisig"
	read := func() (string, error) {
		all, err := c.Read(t.Context(), base, signature)
		if err == nil || len(all) > 0 {
			return string(all[0]) + " " + string(all[1]), err
		}
		return "", err
	}
	if data, err := read(); err != nil || data != "one one" {
		t.Fatalf("%q, %v", data, err)
	}
	broken = "e"
	if data, err := read(); err == nil || data != "" {
		t.Fatalf("%q is taken, and was never in force", data)
	}
	for _, kept := range []string{"one", "two", "two"} {
		for _, address := range []string{base, signature} {
			if err := c.Keep(address, []byte(kept)); err != nil {
				t.Fatal(err)
			}
		}
		for _, broken = range []string{"e", ".minisig"} { // also if only the signature is cached: it belongs to other bytes
			data, err := read()
			if _, ok := errors.AsType[*CopyError](err); !ok || data != kept+" "+kept {
				t.Errorf("%q, %v; want the copy %q", data, err, kept)
			}
			if ofSignature := strings.Contains(err.Error(), "reading its signature: the server responded with status 502"); ofSignature != (broken == ".minisig") {
				t.Errorf("%s: %v", broken, err)
			}
		}
	}
	if err := os.Chmod(c.file(signature), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, err := read(); err == nil || data != "" {
		t.Errorf("%q is taken, which others may write", data)
	}
	if all, err := c.Kept(base); err != nil || string(all[0]) != "two" {
		t.Errorf("%q, %v", all, err)
	}
	broken, text = "", "three"
	if data, err := read(); err != nil || data != "three three" {
		t.Errorf("%q, %v", data, err)
	}
}
