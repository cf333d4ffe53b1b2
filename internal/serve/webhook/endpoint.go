package webhook

import "net/http"

// Handler returns a handler that accepts answers. It authenticates requests by their signatures
// alone.
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
