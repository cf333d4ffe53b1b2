package basefile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Demand is an administrator's requirement that every configuration extend a certain base policy.
type Demand struct {
	Name    string // required name of the base policy; empty means any name
	Version int    // minimum version of the base policy
	Key     string // minisign public key for verifying the signature of the base policy
	Digest  string // required digest of the base policy, if Key is empty
}

// Demanded parses a [Demand] given as a digest or a public key. The key can be preceded by NAME= or
// NAME@VERSION=.
func Demanded(text string) (d Demand, err error) {
	if strings.HasPrefix(text, "sha256:") {
		d.Digest = text
		return d, CheckDigest(text)
	}
	at := strings.LastIndexByte(text, '=')
	if d.Key = text[at+1:]; at >= 0 {
		d.Name = text[:at]
		if name, version, ok := cutLast(d.Name, '@'); ok {
			if d.Name = name; version < 1 {
				return d, errors.New("a version must be a whole number of 1 or more")
			}
			d.Version = version
		}
		if d.Name == "" {
			return d, errors.New("the name before = is missing")
		}
	}
	_, err = KeyID(d.Key)
	return d, err
}

// cutLast cuts a string at the last separator and parses the number after it.
func cutLast(text string, sep byte) (before string, number int, ok bool) {
	at := strings.LastIndexByte(text, sep)
	if at < 0 {
		return text, 0, false
	}
	number, err := strconv.Atoi(text[at+1:])
	return text[:at], number, err == nil
}

// Met reports whether the base policy b satisfies the demand.
func (d Demand) Met(b Seen) bool {
	if d.Digest != "" {
		return b.Digest == d.Digest
	}
	return b.Key == d.Key && (d.Name == "" || b.Name == d.Name) && b.Version >= d.Version
}

// String describes the demand in words that can follow "a base policy".
func (d Demand) String() string {
	if d.Digest != "" {
		return "with the digest " + d.Digest
	}
	id, _ := KeyID(d.Key)
	s := "signed by the key " + id
	if d.Name != "" {
		s = fmt.Sprintf("%q ", d.Name) + s
	}
	if d.Version > 0 {
		s += fmt.Sprintf(", of version %d or higher", d.Version)
	}
	return s
}
