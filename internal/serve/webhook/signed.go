package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/approval"
)

// serveSigned handles an answer signed by the operator's system.
func (h *Hook) serveSigned(w http.ResponseWriter, r *http.Request) {
	a, err := h.readSigned(r)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		h.logRefused(r, err)
		w.WriteHeader(statusOf(err))
		_ = json.NewEncoder(w).Encode(map[string]string{"error": err.Error()})
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"id": a.id, "noted": decisionWords[a.approve]})
}

// decisionWords maps each decision to the word used for it in responses. It is read-only.
var decisionWords = map[bool]string{true: "approve", false: "deny"}

// readSigned reads an answer from the request, verifies its signature, and applies the answer.
func (h *Hook) readSigned(r *http.Request) (a answer, err error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return a, tooLong(err)
	}
	given := r.Header.Values(SignatureHeader)
	if len(given) != 1 || h.signer.verify(given[0], body, h.Now()) != nil {
		return a, &refusal{http.StatusUnauthorized, errSignature}
	}
	if a, err = parseAnswer(body); err != nil {
		return a, &refusal{http.StatusBadRequest, err}
	}
	return a, h.answer(a.id, a.nonce, operator.Answer{Approve: a.approve, Person: a.actor, Actor: a.actor, Reason: a.reason})
}

// logRefused logs an answer that was not accepted. An answer without a valid signature is logged at
// debug level, because anyone who can reach the address can send one.
func (h *Hook) logRefused(r *http.Request, err error) {
	level := slog.LevelWarn
	if status := statusOf(err); status == errNotFound.status || status == http.StatusUnauthorized || status == http.StatusRequestEntityTooLarge {
		level = slog.LevelDebug
	}
	h.Log.Log(r.Context(), level, "an answer to the webhook's address does not count", "error", err, "from", r.RemoteAddr)
}

// answer applies an authenticated answer to the approval with the given ID if the nonce belongs to
// the approval.
func (h *Hook) answer(id string, nonce []byte, a operator.Answer) error {
	asked, err := h.Approvals.MaskedApproval(id, func([]byte) []byte { return placeholder("") })
	switch {
	case err != nil:
		return errNotFound
	case !h.signer.isAbout(nonce, asked):
		return refuse(http.StatusForbidden, "the nonce does not belong to approval %s", asked.ID)
	}
	// A valid nonce proves that the operator's system was told about the approval, possibly by
	// another process.
	_ = h.Approvals.PutApproval(id, approval.Webhook) // ignore the error, because Answer will fail for the same reason
	a.Channel = approval.Webhook
	switch err := h.Approvals.Answer(id, a); {
	case errors.Is(err, approval.ErrStore):
		return &refusal{http.StatusServiceUnavailable, err}
	case err != nil:
		return &refusal{http.StatusConflict, err}
	}
	return nil
}

// linkActor is the actor recorded when a link is used, because links do not identify a person.
const linkActor = "a signed link"
