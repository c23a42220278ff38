package dev.perdure.testing.scenarios;

class MemoryInterceptorScenariosTest extends InterceptorScenarios implements InMemory {}
