package httpguard

import "net/http"

// Header values. They must not be modified.
var (
	noSniff  = []string{"nosniff"}
	noStore  = []string{"no-store"}
	jsonType = []string{"application/json"}
	closing  = []string{"close"}
)

// Reject makes the server close the connection after responding to a rejected request. Otherwise,
// the connection would stay open for minutes, and the number of connections is limited.
func Reject(w http.ResponseWriter) { w.Header()["Connection"] = closing }

func refuseToken(w http.ResponseWriter, status int, challenge, reason string) {
	Reject(w)
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, reason, status)
}
