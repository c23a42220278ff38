package dev.perdure.testing.scenarios;

class MemoryAuditScenariosTest extends AuditScenarios implements InMemory {}
