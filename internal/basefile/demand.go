package basefile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A Demand is a base policy that configurations have to extend, whatever they say.
type Demand struct {
	Name    string // "": of any name
	Version int    // the lowest
	Key     string // of minisign, that signs it
	Digest  string // of its bytes, where there is no key
}

// Demanded reads a demand: a digest, or a key, with NAME= or NAME@VERSION= before it.
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
				return d, errors.New("a version is a whole number from 1")
			}
			d.Version = version
		}
		if d.Name == "" {
			return d, errors.New("there is no name before =")
		}
	}
	_, err = KeyID(d.Key)
	return d, err
}

// cutLast cuts a number off the end of a text.
func cutLast(text string, sep byte) (before string, number int, ok bool) {
	at := strings.LastIndexByte(text, sep)
	if at < 0 {
		return text, 0, false
	}
	number, err := strconv.Atoi(text[at+1:])
	return text[:at], number, err == nil
}

// Met reports whether a base is the one that is demanded.
func (d Demand) Met(b Seen) bool {
	if d.Digest != "" {
		return b.Digest == d.Digest
	}
	return b.Key == d.Key && (d.Name == "" || b.Name == d.Name) && b.Version >= d.Version
}

// String says which base is demanded.
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
