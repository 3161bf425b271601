"""Two models, or one model twice: conversion, parity, consistency, latency."""
