package basefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDigest checks that only the original bytes match a digest, and that other texts are not
// digests.
func TestDigest(t *testing.T) {
	sum := Digest([]byte("x"))
	if err := CheckDigest(sum); err != nil {
		t.Error(err)
	}
	if err := HasDigest([]byte("x"), sum); err != nil {
		t.Error(err)
	}
	if err := HasDigest([]byte("y"), sum); err == nil || !strings.Contains(err.Error(), Digest([]byte("y"))) {
		t.Errorf("other bytes have it: %v", err)
	}
	for _, bad := range []string{"", "sha256:", sum[7:], "sha512:" + sum[7:], sum[:len(sum)-2], sum + "00", sum[:len(sum)-1] + "g", strings.ToUpper(sum), "sha256:" + strings.ToUpper(sum[7:])} {
		if CheckDigest(bad) == nil {
			t.Errorf("%q is taken for a digest", bad)
		}
	}
}

// TestIncomplete checks that an entry without a key, name or digest makes the whole file invalid.
func TestIncomplete(t *testing.T) {
	entry := `{"key":"k","place":"/b","name":"a","version":1,"digest":"` + Digest(nil) + `"}`
	for old, next := range map[string]string{`"a"`: `""`, `"k"`: `""`, `"sha256:`: `"sha`} {
		path := filepath.Join(t.TempDir(), "book")
		if err := os.WriteFile(path, []byte(`{"version":1,"bases":[`+strings.Replace(entry, old, next, 1)+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := CheckVersions(path, nil); err == nil || !strings.Contains(err.Error(), "an entry is not complete") {
			t.Errorf("%s: %v", next, err)
		}
	}
}
