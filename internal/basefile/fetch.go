package basefile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	fetchTime = 15 * time.Second // time limit for fetching a base policy and its signature
	maxFetch  = 1 << 20          // maximum size of a base policy, in bytes
)

// fetch reads a URL. It does not follow redirects, so the file must be at the URL itself. Private
// addresses are allowed, because an administrator rather than a server chose the URL, and the
// content is not shown anywhere before its digest or signature has been verified.
func fetch(ctx context.Context, address string) ([]byte, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if sent, ok := errors.AsType[*url.Error](err); ok {
		err = sent.Err // the caller's message already contains the URL
	}
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server responded with status %d; the address must serve the file without a redirect", response.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxFetch+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFetch {
		return nil, fmt.Errorf("it has more than %d bytes, too many for a base policy", maxFetch)
	}
	return data, nil
}
