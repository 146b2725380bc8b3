package main

type hookCommand struct{}
