package basefile

import (
	"strings"
	"testing"
)

func TestDemanded(t *testing.T) {
	k, digest := key(t, "k.pub"), Digest(nil)
	seven := Seen{Key: k, Name: "acme", Version: 7, Digest: digest}
	for _, c := range []struct {
		text, want string // String of the demand, or the error
		met        bool   // whether version 7 of acme meets the demand
	}{
		{k, "signed by the key 32A0177F40CEC7A5", true},
		{"acme=" + k, `"acme" signed by the key 32A0177F40CEC7A5`, true},
		{"acme@7=" + k, `"acme" signed by the key 32A0177F40CEC7A5, of version 7 or higher`, true},
		{"acme@8=" + k, `"acme" signed by the key 32A0177F40CEC7A5, of version 8 or higher`, false},
		{"other=" + k, `"other" signed by the key 32A0177F40CEC7A5`, false},
		{"a=b@x=" + k, `"a=b@x" signed by the key 32A0177F40CEC7A5`, false},
		{key(t, "o.pub"), "signed by the key 8AA9761C9BA5D610", false},
		{digest, "with the digest " + digest, true},
		{Digest([]byte("x")), "with the digest " + Digest([]byte("x")), false},
		{"", "not a minisign public key", false},
		{"acme", "not a minisign public key", false},
		{"acme@7", "not a minisign public key", false},
		{"=" + k, "the name before = is missing", false},
		{"@7=" + k, "the name before = is missing", false},
		{"acme@0=" + k, "a whole number of 1 or more", false},
		{"acme@-1=" + k, "a whole number of 1 or more", false},
		{"sha256:0", "64 hexadecimal digits", false},
	} {
		d, err := Demanded(c.text)
		got := d.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err == nil && d.Met(seven) != c.met {
			t.Errorf("%s: %s, met %v", c.text, got, d.Met(seven))
		}
	}
}
