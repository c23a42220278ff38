package dev.perdure.testing.scenarios;

class MemorySentHeaderScenariosTest extends SentHeaderScenarios implements InMemory {}
