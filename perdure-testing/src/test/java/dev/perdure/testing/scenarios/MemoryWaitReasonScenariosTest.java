package dev.perdure.testing.scenarios;

class MemoryWaitReasonScenariosTest extends WaitReasonScenarios implements InMemory {}
