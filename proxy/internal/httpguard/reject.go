package httpguard

import "net/http"

// Header values. They must not be modified.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
	closing  = []string{"close"}
)

// Reject closes the connection after the response to a rejected request. It would stay open for
// minutes, and connections are limited.
func Reject(w http.ResponseWriter) { w.Header()["Connection"] = closing }

func refuseToken(w http.ResponseWriter, status int, challenge, reason string) {
	Reject(w)
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, reason, status)
}
