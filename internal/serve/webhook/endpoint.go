package webhook

import "net/http"

// Handler returns a handler that accepts answers. A request is authorized by its signature, no
// matter who sends it.
func (h *Hook) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+answerPath, h.serveSigned)
	mux.HandleFunc("GET "+answerPath+"/{id}/{token}", h.servePage)
	mux.HandleFunc("POST "+answerPath+"/{id}/{token}", h.serveLink)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		r.Body = http.MaxBytesReader(w, r.Body, maxAnswer)
		mux.ServeHTTP(w, r)
	})
}
