package github

import "golang.org/x/oauth2"

// BeginSignIn makes the state, the verifier and the address that somebody signs in at. GitHub sends the browser back to
// redirect, which must be one of the App's callback addresses, with the state and a code.
func (a *App) BeginSignIn(redirect string) (SignIn, error) {
	in := SignIn{State: NewSecret(), Verifier: oauth2.GenerateVerifier()}
	var err error
	in.Address, err = a.SignInAddress(redirect, in.State, in.Verifier)
	return in, err
}
