package webhook

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
)

// Maximum sizes of an answer, its actor and its reason, in bytes.
const (
	maxAnswer = 16 << 10
	maxActor  = 200
	maxReason = 1 << 10
)

// An answer is a signed answer to an approval request, sent by the operator's system.
type answer struct {
	id, actor, reason string
	nonce             []byte
	approve           bool
}

// parseAnswer parses the body of an answer. It returns an error if a member is unknown, occurs
// twice or is not a string. It also returns an error if the decision is neither approve nor deny.
func parseAnswer(body []byte) (a answer, err error) {
	if err := rawjson.Check(body, 1); err != nil {
		return a, fmt.Errorf("the body is not a flat JSON object: %w", err)
	}
	if rawjson.Kind(body) != '{' {
		return a, errors.New("the body is not a JSON object")
	}
	said := map[string]string{}
	rawjson.Members(body, func(key, value []byte, _ int) bool {
		switch name := string(key); {
		case !slices.Contains([]string{"id", "nonce", "decision", "actor", "reason"}, name):
			err = fmt.Errorf("the answer has an unknown member %q", name)
		case rawjson.Kind(value) != '"':
			err = fmt.Errorf("%q is not a string", name)
		default:
			said[name], _ = rawjson.String(value)
		}
		return err == nil
	})
	if err != nil {
		return a, err
	}
	for _, name := range []string{"id", "nonce", "decision", "actor"} {
		if strings.TrimSpace(said[name]) == "" {
			return a, fmt.Errorf("the answer lacks %q", name)
		}
	}
	a = answer{id: said["id"], actor: said["actor"], reason: said["reason"], approve: said["decision"] == "approve"}
	switch {
	case !a.approve && said["decision"] != "deny":
		return a, errors.New(`"decision" is neither "approve" nor "deny"`)
	case len(a.actor) > maxActor, len(a.reason) > maxReason:
		return a, fmt.Errorf(`"actor" has more than %d bytes, or "reason" more than %d`, maxActor, maxReason)
	case text.Escape(a.actor) != a.actor: // invisible characters would let one person use several names that look the same
		return a, errors.New(`"actor" has invisible characters`)
	}
	a.nonce, err = decodeNonce(said["nonce"])
	return a, err
}
