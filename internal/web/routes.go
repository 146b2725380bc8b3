package web

// routes are all there are. Nothing is answered that is not here, and no one is asked again behind it.
var routes = []route{
	{"GET /{$}", signedIn, ofNone, isPage, (*asked).now},
	{"GET /runs/{run}", outsider, ofRun, isPage, (*asked).runPage},
	{"GET /runs/{run}/live", reader, ofRun, isData, (*asked).live},
	{"GET /runs/{run}/output.txt", reader, ofRun, isData, (*asked).output},
	{"GET /runs/{run}/prompts/{iteration}", reader, ofRun, isData, (*asked).prompt},
	{"POST /runs/{run}/stop", writer, ofRun, isData, action(Stop)},
	{"POST /runs/{run}/retry", writer, ofRun, isData, action(Retry)},
	{"POST /runs/{run}/hint", writer, ofRun, isData, action(Hint)},
	{"POST /runs/{run}/approve", writer, ofRun, isData, action(Approve)},
	{"GET /repositories", signedIn, ofNone, isPage, (*asked).repositories},
	{"GET /repositories/{owner}/{name}", outsider, ofRepository, isPage, (*asked).repositoryPage},
	{"GET /deliveries", signedIn, ofNone, isPage, (*asked).deliveries},
	{"GET /deliveries/{delivery}", reader, ofDelivery, isPage, (*asked).deliveryPage},
	{"POST /deliveries/{delivery}/redeliver", writer, ofDelivery, isData, action(Redeliver)},
	{"GET /spend", signedIn, ofNone, isPage, (*asked).spend},
	{"GET /audit", signedIn, ofNone, isPage, (*asked).audit},
	{"GET /setup", settingUp, ofNone, isPage, (*asked).setupPage},
	{"GET /setup/created", settingUp, ofNone, isData, (*asked).created},
	{"GET /setup/code", anybody, ofNone, isPage, (*asked).codePage},
	{"POST /setup/code", anybody, ofNone, isData, (*asked).redeem},
	{"POST /setup/secret", operator, ofNone, isData, (*asked).rotateSecret},
	{"GET /sign-in", anybody, ofNone, isPage, (*asked).signInPage},
	{"GET /sign-in/github", anybody, ofNone, isPage, (*asked).beginSignIn},
	{"GET /sign-in/callback", anybody, ofNone, isPage, (*asked).endSignIn},
	{"POST /sign-out", anybody, ofNone, isData, (*asked).signOut},
	{"POST /sign-out/everywhere", signedIn, ofNone, isData, (*asked).signOutEverywhere},
	{"GET /static/{file}", anybody, ofNone, isData, (*asked).static},
}

// New makes the pages. It reads nothing yet.
func New(o Options) (*Server, error) {
	s, err := newServer(o)
	if err != nil {
		return nil, err
	}
	s.cookie = s.prefixed("ralph")
	s.handler = s.guarded(routes)
	return s, nil
}
