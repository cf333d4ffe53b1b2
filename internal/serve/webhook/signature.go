package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/operator"
)

// Headers of event requests. Signed answers have SignatureHeader as well.
const (
	SignatureHeader = "X-Petrigate-Signature" // t=<seconds since 1970>,v1=<HMAC-SHA256 of t, a dot and the body, in hex>
	DeliveryHeader  = "X-Petrigate-Delivery"  // delivery ID, the same for all attempts to deliver an event
)

// maxSkew is the largest accepted difference between the clocks of the proxy and the operator's
// system. It also limits how long a signature is valid.
const maxSkew = 5 * time.Minute

// errSignature gives no details, because legitimate callers do not need them.
var errSignature = errors.New("the signature is missing, wrong or older than 5 minutes")

// A signer creates and verifies signatures with a secret.
type signer struct{ secret []byte }

// mac returns a message authentication code for the given strings. The code is valid only for the
// given purpose. A purpose must not begin with a digit, because bodyMAC uses the same secret for
// text that begins with a timestamp.
func (s signer) mac(purpose string, parts ...string) []byte {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte(purpose + "\n" + strings.Join(parts, "\n")))
	return m.Sum(nil)
}

// sign returns the value of [SignatureHeader] for a body.
func (s signer) sign(body []byte, at time.Time) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(s.bodyMAC(t, body))
}

func (s signer) bodyMAC(t string, body []byte) []byte {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte(t + "."))
	m.Write(body)
	return m.Sum(nil)
}

// verify returns an error unless header contains a valid and recent signature of body.
func (s signer) verify(header string, body []byte, now time.Time) error {
	rest, isSigned := strings.CutPrefix(header, "t=")
	t, sum, hasSum := strings.Cut(rest, ",v1=")
	seconds, err := strconv.ParseInt(t, 10, 64)
	if !isSigned || !hasSum || err != nil || strconv.FormatInt(seconds, 10) != t {
		return errSignature
	}
	given, err := hex.DecodeString(sum)
	if err != nil || !hmac.Equal(given, s.bodyMAC(t, body)) {
		return errSignature
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > maxSkew || age < -maxSkew {
		return errSignature
	}
	return nil
}

const nonceBytes = 16

// nonce returns a value that identifies the approval a. It differs from the nonce of any other
// approval with the same ID.
func (s signer) nonce(a operator.ApprovalInfo) []byte {
	created := strconv.FormatInt(a.Created.UnixMilli(), 10)
	return s.mac("petrigate nonce 1", a.ID, created, a.Session, a.SHA256)[:nonceBytes]
}

func (s signer) nonceText(a operator.ApprovalInfo) string {
	return base64.RawURLEncoding.EncodeToString(s.nonce(a))
}

// A ticket is the content of a link: a nonce that identifies an approval, the decision on it, and
// the time when the link expires.
type ticket struct {
	nonce   []byte
	expires time.Time
	approve bool
}

// ticketBytes is the length of an encoded ticket, which contains a time, a decision and a nonce.
const ticketBytes = 8 + 1 + nonceBytes

// token encodes and signs the ticket t for the approval with the given ID. The result can be used
// in a URL.
func (s signer) token(id string, t ticket) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(t.expires.Unix()))
	if t.approve {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	b = append(b, t.nonce...)
	return base64.RawURLEncoding.EncodeToString(append(b, s.mac("petrigate link 1", id, string(b))...))
}

// ticket returns the ticket in a token. It returns false unless the token has a valid signature for
// the given ID.
func (s signer) ticket(id, token string) (t ticket, ok bool) {
	b, err := decode(token)
	if err != nil || len(b) != ticketBytes+sha256.Size {
		return t, false
	}
	said, sum := b[:ticketBytes], b[ticketBytes:]
	if !hmac.Equal(sum, s.mac("petrigate link 1", id, string(said))) {
		return t, false
	}
	t.expires = time.Unix(int64(binary.BigEndian.Uint64(said)), 0)
	t.approve, t.nonce = said[8] == 1, said[9:]
	return t, true
}

// isAbout reports whether the nonce belongs to the approval. It compares in constant time.
func (s signer) isAbout(nonce []byte, a operator.ApprovalInfo) bool {
	return subtle.ConstantTimeCompare(nonce, s.nonce(a)) == 1
}

// decode decodes base64 in its canonical form only. The standard decoder would accept line breaks.
func decode(text string) ([]byte, error) {
	if strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("it contains line breaks")
	}
	return base64.RawURLEncoding.Strict().DecodeString(text)
}

// decodeNonce decodes the nonce in a message.
func decodeNonce(text string) ([]byte, error) {
	nonce, err := decode(text)
	if err != nil || len(nonce) != nonceBytes {
		return nil, fmt.Errorf("the nonce is invalid")
	}
	return nonce, nil
}
